package watch

import (
	"hash/fnv"
	"time"

	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/origin/fetch"
)

// HostPolicy is what origins may be asked, whatever a policy would like. A policy
// says which time is best, and may forget all that is said here: its times are
// held to it.
type HostPolicy struct {
	// Between is the least time between two fetches of a stranger's origin; 0: an
	// hour. Whoever sets it less knows the origins.
	Between time.Duration

	// AllowPrivate says that private addresses are fetched from. A feed that an
	// earlier process refused for its address is fetched at once then.
	AllowPrivate bool

	// Origins tells what each origin is to this peer. Nil: all are strangers',
	// asked over the network at any time.
	Origins Origins
}

// Origins says what the origins of feeds are to this peer. Its methods are called
// by several goroutines, and must not block.
type Origins interface {
	// Ours reports whether a feed's origin is no stranger's, so that nothing but
	// its Retry-After and 410 hold: its site names this peer, for instance.
	Ours(feedURL string) bool

	// Local reports whether a feed is read from this machine, so that no host is
	// asked for it.
	Local(feedURL string) bool

	// Part is what of its host's time a feed of a stranger's may be fetched in.
	Part(feedURL string) Part
}

const (
	between = time.Hour // two fetches of a stranger's origin

	// A stranger's origin that was not reached at all has not been bothered, so it
	// is tried again soon; one that has no such feed will hardly have it in an hour.
	firstUnreached = time.Minute
	firstNotFound  = 4 * time.Hour
	daily          = 24 * time.Hour // a feed that fails is fetched all the same

	// heldOpenEnded is how long a host is left alone that asks for fewer requests
	// and says not until when.
	heldOpenEnded = 15 * time.Minute

	// spreadMost is how far fetches are spread after the moment from which they may
	// be, so that not all come at once when a document grows stale.
	spreadMost = 10 * time.Minute
)

func (m HostPolicy) between() time.Duration {
	if m.Between > 0 {
		return m.Between
	}
	return between
}

func (m HostPolicy) ours(feedURL string) bool { return m.Origins != nil && m.Origins.Ours(feedURL) }

func (m HostPolicy) local(feedURL string) bool {
	return m.Origins != nil && m.Origins.Local(feedURL)
}

// Plan writes down when s is fetched again: when p would like to, and never
// before it may be. s is the state after the fetch.
func (m HostPolicy) Plan(p Policy, s *fetch.State, o fetch.Outcome, now time.Time) {
	at, interval := p.Next(s, o, now)
	s.Interval = interval
	s.Gone = o.Err != nil && (o.Err.Kind == failure.KindGone || s.Ended())
	asked := s.NotBefore
	hold(s, o, now)
	if s.Gone {
		s.NextFetch = time.Time{}
		p.Forget(s.URL)
		return
	}
	if m.ours(s.URL) {
		s.NextFetch = laterOf(at, s.NotBefore)
		return
	}
	if o.Err != nil { // of a fetch that somebody asked for: what the last document asked for holds
		s.NotBefore = laterOf(s.NotBefore, asked)
	} else {
		s.NotBefore = laterOf(laterOf(s.NotBefore, now.Add(o.Hints.MaxAge)), s.Calendar.Stale(now))
	}
	s.NextFetch = m.within(at, m.earliest(s, o, now), s, now)
}

// earliest is when a stranger's origin may be asked again.
func (m HostPolicy) earliest(s *fetch.State, o fetch.Outcome, now time.Time) time.Time {
	wait := m.between()
	if o.Err != nil {
		wait = m.backOff(o.Err, s.Failures)
	}
	return laterOf(s.NotBefore, now.Add(wait))
}

// backOff doubles with each failure, up to a day.
func (m HostPolicy) backOff(err *fetch.Error, failures int) time.Duration {
	first := m.between()
	switch {
	case err.Kind == failure.KindNotFound:
		first = max(first, min(4*first, firstNotFound))
	case err.Status == 0 && err.Unreached:
		first = min(first, firstUnreached)
	}
	return max(first, min(first<<min(max(failures-1, 0), 11), daily))
}

// within holds at between the earliest time and a day from now, or whatever is
// asked for that is longer, and moves it out of what the feed skips.
func (m HostPolicy) within(at, earliest time.Time, s *fetch.State, now time.Time) time.Time {
	latest := laterOf(earliest, now.Add(max(daily, m.between())))
	switch {
	case at.Before(earliest):
		at = earliest.Add(jitter(s.URL, now, earliest.Sub(now)/10))
	case at.After(latest):
		at = latest
	}
	if open := s.Calendar.Open(at); open.After(at) {
		return s.Calendar.Open(open.Add(jitter(s.URL, now, spreadMost)))
	}
	return at
}

// resume is when a feed is fetched that was fetched by an earlier process.
// A clock that was wrong when the state was saved must not end a feed.
func (m HostPolicy) resume(p Policy, s *fetch.State, now time.Time) time.Time {
	if s.Private && m.AllowPrivate {
		return now
	}
	at := laterOf(p.Resume(s, now), s.NotBefore)
	if s.Refused {
		at = m.again(s, now.Add(jitter(s.URL, now, resumeSpread)))
	} else if !m.ours(s.URL) {
		at = laterOf(at, s.LastFetch.Add(m.rest(s)))
		if s.Failures > 0 {
			at = laterOf(at, s.NextFetch)
		}
	}
	if last := now.Add(max(fetch.MaxHint, s.Interval, m.Between) + s.Calendar.Longest() + spreadMost); at.After(last) {
		return now
	}
	return at
}

// rest is how long a stranger's origin is left alone after the fetch that s was
// left by: one that was not reached was planned to be tried again sooner.
func (m HostPolicy) rest(s *fetch.State) time.Duration {
	if s.Failures == 0 {
		return m.between()
	}
	return min(m.between(), max(firstUnreached, s.NextFetch.Sub(s.LastFetch)))
}

// hold writes down until when the origin asks to be left alone.
func hold(s *fetch.State, o fetch.Outcome, now time.Time) {
	s.NotBefore, s.Held = now.Add(o.Hints.RetryAfter), held(o)
	s.HeldOpenEnded = s.Held != "" && o.Hints.RetryAfter == 0
	if s.HeldOpenEnded {
		s.NotBefore = now.Add(heldOpenEnded)
	}
}

// held is the host that asked to be left alone as a whole.
func held(o fetch.Outcome) string {
	if o.Err == nil {
		return ""
	}
	switch o.Err.Kind {
	case failure.KindTooManyRequests:
		return o.Err.Host
	case failure.KindUnavailable:
		if o.Hints.RetryAfter > 0 {
			return o.Err.Host
		}
	}
	return ""
}

// jitter is a time up to d, and spreadMost, that is another for each feed and
// fetch.
func jitter(url string, now time.Time, d time.Duration) time.Duration {
	d = min(d, spreadMost)
	if d <= 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(url + now.String())) // documented never to fail
	return time.Duration(h.Sum64() % uint64(d))
}
