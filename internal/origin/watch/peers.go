package watch

import (
	"maps"
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
)

// Leave has a feed that is watched wait as its origin asked somebody else for: the
// whole host, where one is named. What is asked for by hand waits for a host only.
func (w *Watcher) Leave(feedURL string, l fetch.Last) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.feeds.Get(feedURL)
	now := time.Now()
	if most := now.Add(fetch.MaxHint); l.Until.After(most) {
		l.Until = most
	}
	switch {
	case f == nil || !now.Before(l.Until):
	case l.Host != "":
		w.hold(l.Host, l.Until, false)
	case f.in != nil && !f.ours && f.now().asked == nil && f.due < l.Until.UnixNano():
		f.leave()
		f.due = l.Until.UnixNano()
		w.later.add(f)
		w.signal()
	}
}

// hearsay is for how long a host is left alone because another peer says that it
// asked for that, of twice that time: then it is asked, and speaks for itself.
const hearsay = time.Hour

// ApplyPeerHints leaves the host of a feed alone that another peer fetches, where that one was
// asked for it: an hour at most, of two, whatever it says. What is fetched for the
// first time, or because somebody asks, is fetched all the same.
func (w *Watcher) ApplyPeerHints(feedURL string, l fetch.Last) {
	now, name := time.Now(), hostOf(feedURL)
	if !l.Holds(now) || l.Host != name {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.heard, func(_ string, since time.Time) bool { return now.Sub(since) >= 2*hearsay || since.After(now) })
	if w.heard[name].IsZero() {
		w.heard[name] = now
	}
	if most := w.heard[name].Add(hearsay); l.Until.After(most) {
		l.Until = most
	}
	if !now.Before(l.Until) {
		return
	}
	h := w.hosts[name]
	if h == nil {
		h = w.newHost(name)
	}
	h.heard = laterOf(h.heard, l.Until)
	w.wakeAt(name, h)
}

// Ours reports whether a feed's origin is no stranger's.
func (w *Watcher) Ours(feedURL string) bool { return w.cfg.HostPolicy.ours(feedURL) }

// Rest leaves a stranger's host alone for a moment before a feed is fetched that
// another peer fetched until now, and may be fetching still.
func (w *Watcher) Rest(feedURL string, s fetch.State) {
	s.URL = feedURL
	name := w.hostAsked(&s)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hosts[name] == nil {
		w.newHost(name)
	}
	w.rest(name, time.Now().Add(pause))
}
