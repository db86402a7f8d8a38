// Package arcs cuts the ring, as one group sees it, into the two ways that a search goes, and
// leads along them in the views of others.
package arcs

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring/internal/message"
	"github.com/feedring/feedring/ring/internal/ringmap"
)

// between reports whether x lies strictly inside the way from a up to b.
func between(a, x, b feedring.GroupID) bool {
	if a.Compare(b) < 0 {
		return a.Compare(x) < 0 && x.Compare(b) < 0
	}
	return a.Compare(x) < 0 || x.Compare(b) < 0
}

// Arc is one half of a bidirectional search. It ends by key, not by counting:
// with the paper's counter alone, one group that joins during the search hides
// another that had been there all along.
type Arc struct {
	Direction   message.Direction
	Origin, End feedring.GroupID
	C           int // the paper's counter
}

// Cut cuts the ring of o, seen from one group, into the two halves of the paper's
// section 2.1.2. The paper's C = N/2 - 1 both ways visits the antipode of an
// even ring twice; floor(N/2) - 1 one way and ceil(N/2) - 2 the other visit
// every other group exactly once. A direction with C < 0 is left out.
func Cut(o ringmap.Order, from feedring.GroupID) []Arc {
	at, here := slices.BinarySearchFunc(o, from, feedring.GroupID.Compare)
	if !here {
		o = slices.Insert(slices.Clone(o), at, from)
	}
	n := len(o)
	middle := o[(at+n/2)%n]
	var both []Arc
	if c := n/2 - 1; c >= 0 {
		both = append(both, Arc{Direction: message.Successor, Origin: from, End: middle, C: c})
	}
	if c := (n+1)/2 - 2; c >= 0 {
		both = append(both, Arc{Direction: message.Predecessor, Origin: from, End: middle, C: c})
	}
	return both
}

// Next returns the group that follows at on the arc, in somebody's view o of
// the ring. There is none where the arc ends.
func (a Arc) Next(o ringmap.Order, at feedring.GroupID) (feedring.GroupID, bool) {
	if at == a.End {
		return feedring.GroupID{}, false
	}
	if a.Direction == message.Successor {
		g, ok := o.After(at)
		return g, ok && (g == a.End || between(at, g, a.End))
	}
	g, ok := o.Before(at)
	return g, ok && between(a.End, g, at)
}
