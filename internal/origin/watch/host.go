package watch

import (
	"math"
	"net/http"
	"net/url"
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
)

// How one host is treated: it gets one request at a time, and a stranger's none
// for a while after each. At a host that is no stranger's a feed that hangs must
// not hold back the others beside it, of which there may be hundreds.
const (
	pause      = time.Second     // between a fetch of a stranger's host and the next
	patience   = 2 * time.Second // after which a fetch without an end counts as slow
	mostAtHost = 3               // fetches at once, all but one of them slow
)

// host is where fetches are under way, or wait for the end of others.
type host struct {
	running int
	slow    int   // of running, those that began longer than patience ago
	waiting queue // by turn

	visitors []*watched // who wait before all others, the first first

	held      time.Time   // it is left alone until then, as it asked; zero: it did not
	openEnded bool        // of held: it did not say until when
	rests     time.Time   // strangers' feeds are not asked for before
	heard     time.Time   // nor those that were fetched before, unless somebody asks: see ApplyPeerHints
	timer     *time.Timer // until the next of these is over; nil: none was set
}

// opens is from when on a host may be asked, as it says and as strangers are treated.
func (h *host) opens() time.Time { return laterOf(h.held, h.rests) }

// wakes is when more may be asked for than now; a time that has passed: all may.
func (h *host) wakes(now time.Time) time.Time {
	if at := h.opens(); now.Before(at) {
		return at
	}
	return h.heard
}

// hostOf is the host of an address, with its port.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Host
	}
	return address
}

// hostAsked is the host that is asked for a feed; one that is read from this
// machine has one of its own.
func (w *Watcher) hostAsked(s *fetch.State) string {
	if w.cfg.HostPolicy.local(s.URL) {
		return s.URL
	}
	return hostOf(s.Asked())
}

func (w *Watcher) newHost(name string) *host {
	h := &host{waiting: queue{byTurn: true}}
	w.hosts[name] = h
	return h
}

// holdAs leaves a host alone that asked for it, as a state says.
func (w *Watcher) holdAs(s *fetch.State) {
	if s.Held != "" {
		w.hold(s.Held, s.NotBefore, s.HeldOpenEnded)
	}
}

func (w *Watcher) hold(name string, until time.Time, openEnded bool) {
	h := w.hosts[name]
	if h == nil {
		h = w.newHost(name)
	}
	if most := time.Now().Add(fetch.MaxHint); until.After(most) { // its clock, or ours, was wrong
		until = most
	}
	if until.After(h.held) {
		h.held, h.openEnded = until, openEnded
	}
	w.wakeAt(name, h)
}

// Opens is from when on a host may be asked for something else than feeds, as it
// asked for and as strangers are treated; a time that has passed, or zero: now.
func (w *Watcher) Opens(name string) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h := w.hosts[name]; h != nil {
		return h.opens()
	}
	return time.Time{}
}

// Hold leaves a host alone, which does not say until when where openEnded is set: as
// an earlier process was asked for.
func (w *Watcher) Hold(name string, until time.Time, openEnded bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hold(name, until, openEnded)
}

// ApplyHints leaves a host alone that answered something else than a feed with an
// error and asked for that, as if it had been one. It returns until when that is,
// zero where it did not ask, and whether it did not say so.
func (w *Watcher) ApplyHints(name string, status int, header http.Header) (until time.Time, openEnded bool) {
	now := time.Now()
	wait := fetch.ReadHints(header, now).RetryAfter
	openEnded = wait == 0
	switch {
	case openEnded && status == http.StatusTooManyRequests:
		wait = heldOpenEnded
	case openEnded || status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable:
		return time.Time{}, false
	}
	until = now.Add(wait)
	w.Hold(name, until, openEnded)
	return until, openEnded
}

// rest lets no stranger's feed of a host be asked for before a time.
func (w *Watcher) rest(name string, until time.Time) {
	if h := w.hosts[name]; h != nil {
		h.rests = laterOf(h.rests, until)
		w.wakeAt(name, h)
	}
}

// wakeAt lets a host's feeds go on when they may.
func (w *Watcher) wakeAt(name string, h *host) {
	if h.timer != nil {
		h.timer.Stop()
	}
	h.timer = time.AfterFunc(time.Until(h.wakes(time.Now())), func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if now := time.Now(); w.hosts[name] == h && now.Before(h.wakes(now)) { // for the next of them, or the clock was set back
			w.wakeAt(name, h)
		}
		w.release(name)
		w.signal()
	})
}

// takes reports whether a fetch of f may begin now. At a host that is no
// stranger's, what failed the last time begins beside nothing: it may hang again;
// and a feed is fetched once, whatever was said of others.
func (h *host) takes(f *watched, now time.Time) bool {
	switch {
	case now.Before(h.held) && !(f.ours && f.fresh) || !f.ours && now.Before(h.rests):
		return false
	case now.Before(h.heard) && !f.ours && !f.fresh && f.now().asked == nil:
		return false
	case h.running == 0:
		return true
	case !f.ours:
		return false
	case h.running > h.slow || h.running >= mostAtHost:
		return false
	}
	return f.now().asked != nil || !f.failed
}

// The turn of a feed that is due, beside others that are: one that is asked for
// comes first, then those never fetched, and those that failed come last.
// These are times and not ranks, so that nothing waits for ever.
const (
	newcomers = 24 * time.Hour
	failures  = 10 * time.Minute
)

// turn is the time by which feeds that are due are ordered. It does not change
// while a feed waits.
func (f *watched) turn() int64 {
	switch {
	case f.now().asked != nil:
		return math.MinInt64
	case f.fresh:
		return f.due - int64(newcomers)
	case f.failed:
		return f.due + int64(failures)
	}
	return f.due
}

// Wait is what a fetch that was asked for waits for.
type Wait struct {
	Since time.Time        // when the fetch under way began; zero: none is
	Host  string           // of the feed
	Held  *fetch.HeldError // the host is left alone; nil: it may be asked
	Ahead int              // other fetches under way there
}

// Waits tells what a fetch of a feed waits for now; false: the feed is not
// watched, or nothing is asked of it.
func (w *Watcher) Waits(feedURL string) (Wait, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.feeds.Get(feedURL)
	if f == nil || f.now().asked == nil && f.now().fetching == nil {
		return Wait{}, false
	}
	wait := Wait{Host: f.host()}
	if h := w.hosts[wait.Host]; h != nil {
		wait.Ahead = h.running
		if time.Now().Before(h.held) {
			wait.Held = &fetch.HeldError{Host: wait.Host, Until: h.held, OpenEnded: h.openEnded}
		}
	}
	if l := f.now().fetching; l != nil {
		wait.Since = l.began
		if l.at != nil {
			wait.Ahead--
		}
	}
	return wait, true
}
