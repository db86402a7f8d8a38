package feed

import "time"

// How one host is treated: it gets one request at a time, but a feed that hangs
// must not hold back the others beside it, of which there may be hundreds.
const (
	patience   = 2 * time.Second // after which a look without an end counts as slow
	mostAtHost = 3               // looks at once, all but one of them slow
)

// host is where looks are under way, or wait for the end of others.
type host struct {
	running int
	slow    int   // of running, those that began longer than patience ago
	waiting queue // by turn
}

// takes reports whether a look at f may begin now. What failed the last time
// begins beside nothing: it may hang again.
func (h *host) takes(f *watched) bool {
	switch {
	case h.running == 0:
		return true
	case h.running > h.slow || h.running >= mostAtHost:
		return false
	}
	return f.asked != nil || f.state.Failures == 0
}

// The turn of a feed that is due, beside others that are: one that is asked for
// comes first, then those never looked at, and those that failed come last.
// These are times and not ranks, so that nothing waits for ever.
const (
	newcomers = 24 * time.Hour
	failures  = 10 * time.Minute
)

// turn is the time by which feeds that are due are ordered. It does not change
// while a feed waits.
func (f *watched) turn() time.Time {
	switch {
	case f.asked != nil:
		return time.Time{}
	case f.state.LastLook.IsZero():
		return f.due.Add(-newcomers)
	case f.state.Failures > 0:
		return f.due.Add(failures)
	}
	return f.due
}

// Wait is what a look that was asked for waits for.
type Wait struct {
	Since time.Time // when the look under way began; zero: none is
	Host  string    // of the feed
	Ahead int       // other looks under way there
}

// Waits tells what a look at a feed waits for now; false: the feed is not
// watched, or nothing is asked of it.
func (w *Watcher) Waits(feedURL string) (Wait, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, ok := w.feeds[feedURL]
	if !ok || f.asked == nil && f.look == nil {
		return Wait{}, false
	}
	wait := Wait{Host: f.host}
	if h := w.hosts[f.host]; h != nil {
		wait.Ahead = h.running
	}
	if f.look != nil {
		wait.Since, wait.Ahead = f.look.began, wait.Ahead-1
	}
	return wait, true
}
