package feed

import (
	"math/rand/v2"
	"net/url"
	"sync"
	"time"

	"github.com/feedring/feedring/internal/feed/document"
	"github.com/feedring/feedring/internal/guard"
)

// Outcome is what one look found.
type Outcome struct {
	New, Updated int    // entries
	Err          *Error // nil: the origin answered
	Hints        Hints
}

// Policy decides when to look at a feed again. Implementations must be safe
// for concurrent use and must not block.
type Policy interface {
	// Next returns when to look again, and the interval that it thinks in,
	// which is kept in State.Interval. state is that after the look.
	Next(state *State, o Outcome, now time.Time) (time.Time, time.Duration)

	// Resume returns when to look at a feed that was looked at by an earlier
	// process. A feed that was never looked at is due at once.
	Resume(state *State, now time.Time) time.Time
}

// The bounds of the adaptive policy.
const (
	minInterval   = 5 * time.Minute
	startInterval = 15 * time.Minute
	maxInterval   = time.Hour
	firstRetry    = time.Minute
	lastRetry     = 24 * time.Hour
	resumeSpread  = 30 * time.Second // of the first looks after a start
)

// Adaptive looks more often at a feed that has news and less often at one that
// has none, between 5 minutes and an hour, never earlier than the origin asks.
type Adaptive struct {
	mu   sync.Mutex
	rand *rand.Rand
}

// NewAdaptive returns the policy; source spreads the looks and is used by nobody
// else.
func NewAdaptive(source rand.Source) *Adaptive { return &Adaptive{rand: rand.New(source)} }

// Next implements Policy.
func (a *Adaptive) Next(s *State, o Outcome, now time.Time) (time.Time, time.Duration) {
	interval := s.Interval
	if interval == 0 {
		interval = startInterval
	}
	if o.Err != nil {
		return now.Add(max(a.jitter(retryAfterError(o.Err, s.Failures)), o.Hints.RetryAfter)), interval
	}
	switch {
	case o.New > 0:
		interval /= 2
	case o.Updated == 0:
		interval += interval / 4
	}
	interval = min(max(interval, minInterval), maxInterval)
	wait := max(a.jitter(interval), o.Hints.MaxAge, o.Hints.RetryAfter, min(o.Hints.TTL, maxInterval))
	return skipHours(now.Add(wait), o.Hints.SkipHours), interval
}

// Resume implements Policy: overdue feeds are spread, so that a start does not
// knock at every door at once.
func (a *Adaptive) Resume(s *State, now time.Time) time.Time {
	if s.NextLook.After(now) {
		return s.NextLook
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return now.Add(time.Duration(a.rand.Int64N(int64(resumeSpread))))
}

// jitter returns d up to a tenth shorter or longer.
func (a *Adaptive) jitter(d time.Duration) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return d - d/10 + time.Duration(a.rand.Int64N(int64(d/5)+1))
}

// retryAfterError doubles from a minute to a day; a feed that is gone is asked
// for once a day, in case it was a mistake.
func retryAfterError(err *Error, failures int) time.Duration {
	if err.Kind == document.KindGone {
		return lastRetry
	}
	return min(firstRetry<<min(max(failures-1, 0), 11), lastRetry)
}

// skipHours moves t out of the hours in which the feed publishes nothing.
func skipHours(t time.Time, skip [24]bool) time.Time {
	for range 23 {
		if !skip[t.UTC().Hour()] {
			return t
		}
		t = t.Truncate(time.Hour).Add(time.Hour)
	}
	return t
}

// checked is how long a feed is left alone, at least, whose hub tells what is new.
const checked = time.Hour

// WithHubs looks more rarely at feeds whose hub works.
type WithHubs struct {
	Policy
	Works func(feedURL string) bool
}

// Next implements Policy.
func (w WithHubs) Next(s *State, o Outcome, now time.Time) (time.Time, time.Duration) {
	at, interval := w.Policy.Next(s, o, now)
	if o.Err == nil && w.Works(s.URL) {
		at = laterOf(at, now.Add(checked+at.Sub(now)/4)) // as spread as the policy's
	}
	return at, interval
}

// Fixed returns a FixedPolicy for which origins at private addresses are one's
// own.
func Fixed(interval time.Duration) FixedPolicy {
	return FixedPolicy{Interval: interval, Own: func(feedURL string) bool {
		u, err := url.Parse(feedURL)
		return err == nil && guard.IsPrivateHost(u.Hostname())
	}}
}

// FixedPolicy looks at fixed times, for people who know the origin.
// Retry-After holds all the same, and so does max-age for an origin that is not
// their own.
type FixedPolicy struct {
	Interval time.Duration
	Own      func(url string) bool // nil: no origin is
}

// Next implements Policy. Failures are followed by at most ten times the
// interval, so that an origin that comes back is seen soon.
func (f FixedPolicy) Next(s *State, o Outcome, now time.Time) (time.Time, time.Duration) {
	wait := f.Interval
	if o.Err != nil {
		longest := max(f.Interval, min(10*f.Interval, time.Hour))
		wait = min(f.Interval<<min(max(s.Failures-1, 0), 4), longest)
		if o.Err.Kind == document.KindGone {
			wait = lastRetry
		}
	}
	wait = max(wait, o.Hints.RetryAfter)
	if o.Err == nil && (f.Own == nil || !f.Own(s.URL)) {
		wait = max(wait, o.Hints.MaxAge)
	}
	return now.Add(wait), f.Interval
}

// Resume implements Policy.
func (f FixedPolicy) Resume(s *State, now time.Time) time.Time {
	if s.Interval != f.Interval && s.Failures == 0 { // it was planned otherwise
		return laterOf(s.LastLook.Add(f.Interval), now)
	}
	return laterOf(s.NextLook, now)
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
