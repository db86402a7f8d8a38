package ringmap

import (
	"slices"

	"github.com/feedring/feedring"
)

// Order is the live groups as some peer sees them, in ring order.
type Order []feedring.GroupID

// After returns the group that follows g around the ring, whether or not g is
// there itself. There is none where g is alone.
func (o Order) After(g feedring.GroupID) (feedring.GroupID, bool) {
	i, here := slices.BinarySearchFunc(o, g, feedring.GroupID.Compare)
	if here {
		i++
	}
	return o.at(i, g)
}

// Before returns the group that precedes g around the ring.
func (o Order) Before(g feedring.GroupID) (feedring.GroupID, bool) {
	i, _ := slices.BinarySearchFunc(o, g, feedring.GroupID.Compare)
	return o.at(i-1+len(o), g)
}

func (o Order) at(i int, not feedring.GroupID) (feedring.GroupID, bool) {
	if len(o) == 0 {
		return feedring.GroupID{}, false
	}
	g := o[i%len(o)]
	return g, g != not
}

// Depth returns how many steps g is away from from, the shorter way round.
func (o Order) Depth(from, g feedring.GroupID) int {
	i, _ := slices.BinarySearchFunc(o, from, feedring.GroupID.Compare)
	j, _ := slices.BinarySearchFunc(o, g, feedring.GroupID.Compare)
	d := max(i-j, j-i)
	return min(d, max(len(o)-d, 0))
}
