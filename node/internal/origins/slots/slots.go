// Package slots spreads the fetches of a feed that several peers fetch over time: each
// peer fetches in a slot of its own.
package slots

import (
	"hash/fnv"
	"math/bits"
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/origin/watch"
)

// Policy holds a policy's times at this peer's slot where several fetch a feed:
// each as many times rarer as they are, evenly one after another. Their clocks
// agree by some seconds, and so do their intervals, made so.
type Policy struct {
	watch.Policy
	Assignments Assignments
	Exact       bool // the interval is everybody's: somebody gave it
}

// Assignments tells which slot of how many is this peer's for a feed.
type Assignments interface {
	SlotOf(feedURL string) (slot, slots int)
}

// Next implements watch.Policy.
func (p Policy) Next(s *fetch.State, o fetch.Outcome, now time.Time) (time.Time, time.Duration) {
	at, interval := p.Policy.Next(s, o, now)
	slot, slots := p.Assignments.SlotOf(s.URL)
	if o.Err != nil || slots < 2 || interval <= 0 {
		return at, interval
	}
	every := interval
	if !p.Exact {
		every = common(interval)
	}
	return next(s.URL, slot, slots, every*time.Duration(slots), at, now), interval
}

// next is the first moment of a slot that comes neither before at nor much sooner
// than a whole round after now.
func next(url string, slot, of int, round time.Duration, at, now time.Time) time.Time {
	h := fnv.New64a()
	_, _ = h.Write([]byte(url)) // documented never to fail
	phase := time.Duration(h.Sum64()%uint64(round)) + round*time.Duration(slot-1)/time.Duration(of)
	if half := now.Add(round / 2); at.Before(half) {
		at = half
	}
	late := time.Duration((at.UnixNano() - int64(phase)) % int64(round))
	return at.Add((round - late) % round)
}

// common rounds an interval that each peer learned by itself to the power of two
// of seconds above it.
func common(d time.Duration) time.Duration {
	return time.Second << bits.Len64(uint64(max(0, (d-1)/time.Second)))
}
