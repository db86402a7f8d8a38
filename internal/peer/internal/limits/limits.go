// Package limits counts what other peers ask of this one, and remembers what was
// answered: none of them gets more than its share, and no question two answers.
package limits

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring"
)

// Places that peers without a ring entry may ask for within OutsiderWindow, which is
// about as long as a place is kept. A peer that coordinates because its own
// leaders are away needs a few; anybody else gets no more than that either.
const (
	OutsiderWindow = 10 * time.Second
	OutsiderEach   = 64
	OutsiderAll    = 1024
)

// Outsiders counts the places that peers without a ring entry asked for.
type Outsiders struct {
	began time.Time
	all   int
	each  map[feedring.PeerID]int
}

// Clone returns a count that goes on by itself.
func (s Outsiders) Clone() Outsiders {
	s.each = maps.Clone(s.each)
	return s
}

// Take counts one more, and reports whether there is room for it.
func (s *Outsiders) Take(from feedring.PeerID, now time.Time) bool {
	if s.each == nil || !now.Before(s.began.Add(OutsiderWindow)) {
		*s = Outsiders{began: now, each: map[feedring.PeerID]int{}}
	}
	if s.all >= OutsiderAll || s.each[from] >= OutsiderEach {
		return false
	}
	s.all++
	s.each[from]++
	return true
}

// Finished remembers the attempts that had their final, so that none has two.
// The oldest goes first.
type Finished struct {
	size  int
	seen  map[ring.Attempt]bool `state:"derived"` // of order
	order []ring.Attempt
	next  int
}

// NewFinished returns a memory of at most size attempts.
func NewFinished(size int) Finished {
	return Finished{size: size, seen: map[ring.Attempt]bool{}}
}

// Clone returns a memory that goes on by itself.
func (f Finished) Clone() Finished {
	f.seen, f.order = maps.Clone(f.seen), slices.Clone(f.order)
	return f
}

// Has reports whether a is remembered.
func (f *Finished) Has(a ring.Attempt) bool { return f.seen[a] }

// Add remembers a.
func (f *Finished) Add(a ring.Attempt) {
	if f.seen[a] {
		return
	}
	if len(f.order) < f.size {
		f.order = append(f.order, a)
	} else {
		delete(f.seen, f.order[f.next])
		f.order[f.next] = a
		f.next = (f.next + 1) % f.size
	}
	f.seen[a] = true
}
