package fetchassign

import (
	"slices"
	"time"

	"github.com/feedring/feedring/internal/times"
)

// A fetcher may be present and fetch nothing: its disk is full, its owner withholds the feed, or it never meant to.
// Nobody else fetches then, so a turn that brings nothing goes to the next peer.

const (
	scheduledEvery = 24 * time.Hour     // no scheduler leaves a feed alone for longer
	longestEvery   = 7 * 24 * time.Hour // that a peer may say
	vainFor        = 24 * time.Hour     // a peer whose turn brought nothing is chosen after the others
)

// interval is the longest time between two fetches by this peer, one of so many fetchers.
func (a *candidate) interval(h *Snapshot, of int) time.Duration {
	every := scheduledEvery
	if a.every > 0 {
		every = min(max(a.every, h.validity()), longestEvery)
	}
	return every * time.Duration(max(of, 1))
}

// reviewTurns ends the turns of fetchers that told no fetch for two of their intervals. The time that an origin asked
// to be left alone does not count, nor does a feed that is gone for good.
func (s *assignedFeed) reviewTurns(h *Snapshot) {
	for i := range s.candidates {
		a := &s.candidates[i]
		switch {
		case !slices.Contains(s.fetchers, a.peer):
			a.told = time.Time{}
		case a.told.IsZero():
			a.told = h.Now
		case s.last != nil && s.last.Gone:
		case h.Now.Sub(times.Later(a.told, s.last.rests())) > 2*a.interval(h, len(s.fetchers)):
			a.told, a.vainUntil = time.Time{}, h.Now.Add(vainFor)
		}
	}
}

// toldBy notes that a fetcher told of a fetch.
func (s *assignedFeed) toldBy(h *Snapshot, i int) {
	s.candidates[i].told, s.candidates[i].vainUntil = h.Now, time.Time{}
}

// rests is until when the last fetch has the next one wait; zero: not at all.
func (l *datedFetch) rests() time.Time {
	if l == nil || l.Wait <= 0 && l.Again <= 0 {
		return time.Time{} // that another of several fetchers told one keeps nobody's turn
	}
	return times.Later(l.until(), l.at.Add(l.Again))
}
