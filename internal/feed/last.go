package feed

import (
	"strings"
	"time"
)

// Last is what the last look at a feed left to whoever looks next, be it another
// peer: it asks the origin no sooner than the one before would have.
type Last struct {
	At         time.Time  // of the last look that the origin noticed; zero: none
	Until      time.Time  // the origin wants to be left alone until then; it may have passed
	Host       string     // that is left alone as a whole; empty: the feed alone
	Validators Validators // of the last document
}

// Holds reports whether a host is to be left alone still.
func (l Last) Holds(now time.Time) bool { return l.Host != "" && now.Before(l.Until) }

// Last is what s leaves. A look that reached nobody bothered nobody: another peer
// may try at once.
func (s *State) Last() Last {
	l := Last{At: s.LastLook, Until: s.NotBefore, Host: s.Held, Validators: s.Validators}
	if s.Unreached {
		l.At = s.LastSuccess
	}
	return l
}

// Heed returns the state that goes on from a look that somebody else told of, or
// s, where that was not after its own. The first request is conditional where this
// peer read the feed itself at some time, and holds all that was found since: else
// nobody would tell it what the document says beside its entries.
func (s State) Heed(l Last, holdsAll bool, now time.Time) State {
	if l.At.After(now) {
		l.At = now
	}
	if !l.At.After(s.LastLook) {
		return s
	}
	s.LastLook, s.NextLook, s.Interval = l.At, time.Time{}, 0
	s.Failures, s.LastError, s.Unreached = 0, "", false
	s.NotBefore, s.Held, s.HeldUntold = l.Until, l.Host, false
	if most := now.Add(maxHint); s.NotBefore.After(most) {
		s.NotBefore = most
	}
	if holdsAll && s.looked() && l.Validators.sendable() {
		s.Validators = l.Validators
	}
	return s
}

// sendable reports whether there is something to ask with, and no request fails
// of it.
func (v Validators) sendable() bool {
	all := string(v.ETag + v.LastModified)
	return all != "" && !strings.ContainsFunc(all, isControl)
}

// Leave has a feed that is watched wait as its origin asked somebody else for: the
// whole host, where one is named. What is asked for by hand waits for a host only.
func (w *Watcher) Leave(feedURL string, l Last) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.feeds.Get(feedURL)
	now := time.Now()
	if most := now.Add(maxHint); l.Until.After(most) {
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

// Ours reports whether a feed's origin is no stranger's.
func (w *Watcher) Ours(feedURL string) bool { return w.cfg.Manners.ours(feedURL) }

// Rest leaves a stranger's host alone for a moment before a feed is looked at that
// another peer looked at until now, and may be looking at still.
func (w *Watcher) Rest(feedURL string, s State) {
	s.URL = feedURL
	name := w.hostAsked(&s)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hosts[name] == nil {
		w.newHost(name)
	}
	w.rest(name, time.Now().Add(pause))
}
