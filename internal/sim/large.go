package sim

import "slices"

// mixed is how many peers the groups of a large network have, over and over:
// some spread over a mesh, some do not.
var mixed = []int{100, 20, 50, 30}

// large is how many peers each group of a network has that has at least so many.
func large(peers int) []int {
	var sizes []int
	for all := 0; all < peers; all += sizes[len(sizes)-1] {
		sizes = append(sizes, mixed[len(sizes)%len(mixed)])
	}
	return sizes
}

// enlarge makes faults and readers as many as the peers want.
func (s *scenario) enlarge(sizes []int) {
	peers := 0
	for _, size := range sizes {
		peers += size
	}
	s.times = max(1, peers/(len(plain)*plain[0]))
	s.faults = slices.Clone(s.faults)
	for i := range s.faults {
		if s.faults[i].reach == somebody {
			s.faults[i].weight *= s.times
		}
	}
}
