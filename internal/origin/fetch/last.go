package fetch

import (
	"strings"
	"time"
)

// Last is what the last fetch of a feed left to whoever fetches next, be it another
// peer: it asks the origin no sooner than the one before would have.
type Last struct {
	At         time.Time  // of the last fetch that the origin noticed; zero: none
	Until      time.Time  // the origin wants to be left alone until then; it may have passed
	Host       string     // that is left alone as a whole; empty: the feed alone
	Validators Validators // of the last document
	Failures   int        // fetches in a row that failed, this one included
	Again      time.Time  // after a failure: when the next fetch would have been
	Gone       bool       // the origin said that the feed is gone for good
}

// Holds reports whether a host is to be left alone still.
func (l Last) Holds(now time.Time) bool { return l.Host != "" && now.Before(l.Until) }

// Last is what s leaves. A fetch that reached nobody bothered nobody: another peer
// may try at once.
func (s *State) Last() Last {
	l := Last{At: s.LastFetch, Until: s.NotBefore, Host: s.Held, Validators: s.Validators, Gone: s.Gone}
	switch {
	case s.Unreached:
		l.At = s.LastSuccess
	case s.Failures > 0:
		l.Failures, l.Again = s.Failures, s.NextFetch
	}
	return l
}

// ApplyLast returns the state that goes on from a fetch that somebody else told of, or
// s, where that was not after its own. The first request is conditional where this
// peer read the feed itself at some time, and holds all that was found since: else
// nobody would tell it what the document says beside its entries.
func (s State) ApplyLast(l Last, holdsAll bool, now time.Time) State {
	if l.At.After(now) {
		l.At = now
	}
	if !l.At.After(s.LastFetch) {
		return s
	}
	s.applyFailure(l, now)
	s.LastFetch, s.Interval = l.At, 0
	s.NotBefore, s.Held, s.HeldOpenEnded = l.Until, l.Host, false
	if most := now.Add(MaxHint); s.NotBefore.After(most) {
		s.NotBefore = most
	}
	if holdsAll && s.Fetched() && l.Validators.sendable() {
		s.Validators = l.Validators
	}
	return s
}

// secondHand is for how long the word of another peer holds on how its fetches failed.
const secondHand = 24 * time.Hour

// applyFailure goes on from how the fetch of somebody else went, whose word holds for
// a day: then the origin is asked once, and what it says itself counts. That a
// feed is gone is told so from one to the next, and each asks for itself.
func (s *State) applyFailure(l Last, now time.Time) {
	ended := s.Ended()
	s.NextFetch, s.Failures, s.LastError, s.Unreached, s.Gone = time.Time{}, l.Failures, "", false, l.Gone
	s.Private, s.Refused = false, false
	switch {
	case l.Gone:
		s.Failures, s.LastError = max(l.Failures, 1), "another peer of the group was told that the feed is gone for good"
		if !ended {
			s.NextFetch = l.At.Add(secondHand)
		}
	case l.Failures > 0:
		s.LastError = "another peer of the group failed to fetch it"
		if s.NextFetch = l.Again; s.NextFetch.After(now.Add(secondHand)) {
			s.NextFetch = now.Add(secondHand)
		}
	}
}

// sendable reports whether there is something to ask with, and no request fails
// of it.
func (v Validators) sendable() bool {
	all := string(v.ETag + v.LastModified)
	return all != "" && !strings.ContainsFunc(all, isControl)
}
