package fetch

import (
	"maps"
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
	Failures   int        // looks in a row that failed, this one included
	Again      time.Time  // after a failure: when the next look would have been
	Gone       bool       // the origin said that the feed is gone for good
}

// Holds reports whether a host is to be left alone still.
func (l Last) Holds(now time.Time) bool { return l.Host != "" && now.Before(l.Until) }

// Last is what s leaves. A look that reached nobody bothered nobody: another peer
// may try at once.
func (s *State) Last() Last {
	l := Last{At: s.LastLook, Until: s.NotBefore, Host: s.Held, Validators: s.Validators, Gone: s.Gone}
	switch {
	case s.Unreached:
		l.At = s.LastSuccess
	case s.Failures > 0:
		l.Failures, l.Again = s.Failures, s.NextLook
	}
	return l
}

// ApplyLast returns the state that goes on from a look that somebody else told of, or
// s, where that was not after its own. The first request is conditional where this
// peer read the feed itself at some time, and holds all that was found since: else
// nobody would tell it what the document says beside its entries.
func (s State) ApplyLast(l Last, holdsAll bool, now time.Time) State {
	if l.At.After(now) {
		l.At = now
	}
	if !l.At.After(s.LastLook) {
		return s
	}
	s.applyFailure(l, now)
	s.LastLook, s.Interval = l.At, 0
	s.NotBefore, s.Held, s.HeldUntold = l.Until, l.Host, false
	if most := now.Add(maxHint); s.NotBefore.After(most) {
		s.NotBefore = most
	}
	if holdsAll && s.looked() && l.Validators.sendable() {
		s.Validators = l.Validators
	}
	return s
}

// applyFailure goes on from how the look of somebody else went, whose word holds for
// a day: then the origin is asked once, and what it says itself counts. That a
// feed is gone is told so from one to the next, and each asks for itself.
func (s *State) applyFailure(l Last, now time.Time) {
	ended := s.ended()
	s.NextLook, s.Failures, s.LastError, s.Unreached, s.Gone = time.Time{}, l.Failures, "", false, l.Gone
	s.Refused = false
	switch {
	case l.Gone:
		s.Failures, s.LastError = max(l.Failures, 1), "another peer of the group was told that the feed is gone for good"
		if !ended {
			s.NextLook = l.At.Add(daily)
		}
	case l.Failures > 0:
		s.LastError = "another peer of the group looked in vain"
		if s.NextLook = l.Again; s.NextLook.After(now.Add(daily)) {
			s.NextLook = now.Add(daily)
		}
	}
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

// hearsay is for how long a host is left alone because another peer says that it
// asked for that, of twice that time: then it is asked, and speaks for itself.
const hearsay = time.Hour

// ApplyPeerHints leaves the host of a feed alone that another peer looks at, where that one was
// asked for it: an hour at most, of two, whatever it says. What is looked at for the
// first time, or because somebody asks, is looked at all the same.
func (w *Watcher) ApplyPeerHints(feedURL string, l Last) {
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
