package sim

import (
	"slices"
	"time"
)

// asBefore are seeds that would be wide by their number, and found something
// before there were such: they stay what they were.
var asBefore = []uint64{178, 267, 429, 927, 1047, 2567, 3069, 3249, 4847, 5119}

// Wide reports whether a seed is played with wider faults, in networks of other
// sizes: those do whose number ends in 7, 8 or 9. The others are what they were
// when that came.
func Wide(seed uint64) bool { return seed%10 >= 7 && !slices.Contains(asBefore, seed) }

// shape draws how many peers each group of a wide seed has.
func (s *scenario) shape() []int {
	switch s.random.IntN(36) {
	case 0:
		return []int{70, 3, 3} // beacons over a mesh, notifies down trees
	case 1, 2, 9:
		return slices.Repeat([]int{3}, 8)
	case 3, 4:
		return []int{12, 12}
	case 5, 8:
		return []int{1 + s.random.IntN(2)}
	case 6, 7:
		return []int{12, 1, 2, 6, 3}
	}
	return plain
}

// seldom is how much more seldom sites of a group post, the larger it is: a
// network of one large group would take too long.
func seldom(members int) time.Duration { return time.Duration(max(1, members/6)) }

// mirrors is one in how many peers publishes what another does as well.
func (s *scenario) mirrors() int {
	if s.wide {
		return 3
	}
	return 8
}

// plain is how many peers each group of a seed has that is not wide.
var plain = []int{5, 5, 5, 5, 5}

// wider is what may go wrong in wide seeds, beside faults.
var wider = []fault{
	{"a newcomer", 12, (*scenario).newcomer, somebody},
	{"gone for good", 4, (*scenario).goForGood, somebody},
	{"clock set", 6, (*scenario).clockJumps, somebody},
	{"bursts of loss", 4, (*scenario).burstsOfLoss, everywhere},
	{"everybody stops", 1, (*scenario).stopAll, everywhere},
	{"both leaders struck", 4, (*scenario).strikeLeaders, somebody},
	{"an origin refuses", 4, (*scenario).refuse, somebody},
}

// homes lists to which group each peer of a network belongs, by turns, so that
// the first of each group come first.
func homes(sizes []int) []int {
	var all []int
	for round := range slices.Max(sizes) {
		for group, size := range sizes {
			if round < size {
				all = append(all, group)
			}
		}
	}
	return all
}
