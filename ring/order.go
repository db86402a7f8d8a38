package ring

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring/internal/ringmap"
)

// between reports whether x lies strictly inside the way from a up to b.
func between(a, x, b feedring.GroupID) bool {
	if a.Compare(b) < 0 {
		return a.Compare(x) < 0 && x.Compare(b) < 0
	}
	return a.Compare(x) < 0 || x.Compare(b) < 0
}

// arc is one half of a bidirectional search. It ends by key, not by counting:
// with the paper's counter alone, one group that joins during the search hides
// another that had been there all along.
type arc struct {
	direction   Direction
	origin, end feedring.GroupID
	c           int
}

// arcs cuts the ring of o, seen from one group, into the two halves of the paper's
// section 2.1.2. The paper's C = N/2 - 1 both ways visits the antipode of an
// even ring twice; floor(N/2) - 1 one way and ceil(N/2) - 2 the other visit
// every other group exactly once. A direction with C < 0 is left out.
func arcs(o ringmap.Order, from feedring.GroupID) []arc {
	at, here := slices.BinarySearchFunc(o, from, feedring.GroupID.Compare)
	if !here {
		o = slices.Insert(slices.Clone(o), at, from)
	}
	n := len(o)
	middle := o[(at+n/2)%n]
	var both []arc
	if c := n/2 - 1; c >= 0 {
		both = append(both, arc{direction: Successor, origin: from, end: middle, c: c})
	}
	if c := (n+1)/2 - 2; c >= 0 {
		both = append(both, arc{direction: Predecessor, origin: from, end: middle, c: c})
	}
	return both
}

// next returns the group that follows at on the arc, in somebody's view o of
// the ring. There is none where the arc ends.
func (a arc) next(o ringmap.Order, at feedring.GroupID) (feedring.GroupID, bool) {
	if at == a.end {
		return feedring.GroupID{}, false
	}
	if a.direction == Successor {
		g, ok := o.After(at)
		return g, ok && (g == a.end || between(at, g, a.end))
	}
	g, ok := o.Before(at)
	return g, ok && between(a.end, g, at)
}
