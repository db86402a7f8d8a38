package sim

import "slices"

// asBefore are seeds that would be wide by their number, and found something
// before there were such: they stay what they were.
var asBefore = []uint64{178, 267, 429, 927, 1047, 2567, 3069, 3249, 4847, 5119}

// Wide reports whether a seed is played with wider faults, in networks of other
// sizes: those do whose number ends in 7, 8 or 9. The others are what they were
// when that came.
func Wide(seed uint64) bool { return seed%10 >= 7 && !slices.Contains(asBefore, seed) }

// plain is how many peers each group of a seed has that is not wide.
var plain = []int{5, 5, 5, 5, 5}

// wider is what may go wrong in wide seeds, beside faults.
var wider = []fault{
	{"a newcomer", 12, (*scenario).newcomer},
	{"gone for good", 4, (*scenario).goForGood},
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
