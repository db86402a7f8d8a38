package watch

import (
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
)

// Policy decides which time is best to fetch a feed again, and need not mind
// what its origin asks for: HostPolicy does. Implementations must be safe
// for concurrent use and must not block.
type Policy interface {
	// Next returns when to fetch again, and the interval that it thinks in,
	// which is kept in fetch.State.Interval. state is that after the fetch.
	Next(state *fetch.State, o fetch.Outcome, now time.Time) (time.Time, time.Duration)

	// Resume returns when to fetch a feed that was fetched by an earlier
	// process.
	Resume(state *fetch.State, now time.Time) time.Time

	// Forget tells that a feed is fetched no more.
	Forget(url string)
}

const (
	firstRetry = time.Minute
	lastRetry  = 24 * time.Hour

	// Overdue feeds are spread over the first fetches after a start: over half a
	// minute, or five hundred a second.
	resumeSpread = 30 * time.Second
	resumeEach   = 2 * time.Millisecond
)

// retryAfterError doubles from a minute to a day.
func retryAfterError(failures int) time.Duration {
	return min(firstRetry<<min(max(failures-1, 0), 11), lastRetry)
}

// VouchedEvery is how long after a fetch the next is where the site names this peer.
const VouchedEvery = time.Minute

// WithSites fetches each minute the feeds whose site names this peer.
type WithSites struct {
	Policy
	Sites Sites
}

// Sites tells whether the site of a feed names this peer. It must not block.
type Sites interface {
	Vouched(feedURL string) bool
}

// Next implements Policy.
func (w WithSites) Next(s *fetch.State, o fetch.Outcome, now time.Time) (time.Time, time.Duration) {
	at, interval := w.Policy.Next(s, o, now)
	if o.Err == nil && w.Sites.Vouched(s.URL) {
		at = now.Add(VouchedEvery)
	}
	return at, interval
}

// checked is how long a feed is left alone, at least, whose hub tells what is new.
const checked = time.Hour

// WithHubs fetches more rarely the feeds whose hub works.
type WithHubs struct {
	Policy
	Hubs Hubs
}

// Hubs tells whether the hub of a feed tells what is new. It must not block.
type Hubs interface {
	HubWorks(feedURL string) bool
}

// Next implements Policy.
func (w WithHubs) Next(s *fetch.State, o fetch.Outcome, now time.Time) (time.Time, time.Duration) {
	at, interval := w.Policy.Next(s, o, now)
	if o.Err == nil && w.Hubs.HubWorks(s.URL) {
		at = laterOf(at, now.Add(checked+at.Sub(now)/4)) // as spread as the policy's
	}
	return at, interval
}

// Fixed fetches at fixed times, for people who know the origin.
type Fixed time.Duration

// Next implements Policy. Failures are followed by at most ten times the
// interval, so that an origin that comes back is seen soon.
func (f Fixed) Next(s *fetch.State, o fetch.Outcome, now time.Time) (time.Time, time.Duration) {
	interval := time.Duration(f)
	wait := interval
	if o.Err != nil {
		longest := max(interval, min(10*interval, time.Hour))
		wait = min(interval<<min(max(s.Failures-1, 0), 4), longest)
	}
	return now.Add(wait), interval
}

// Resume implements Policy.
func (f Fixed) Resume(s *fetch.State, now time.Time) time.Time {
	if s.Interval != time.Duration(f) && s.Failures == 0 { // it was planned otherwise
		return laterOf(s.LastFetch.Add(time.Duration(f)), now)
	}
	return laterOf(s.NextFetch, now)
}

// Forget implements Policy.
func (Fixed) Forget(string) {}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
