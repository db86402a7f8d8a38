//go:build !race

package explore

import "testing"

// TestSilentTakesOver: few states from where a manager is silent are enough to
// be in the middle of takeovers; from a settled group as many see none.
func TestSilentTakesOver(t *testing.T) {
	for _, peers := range []int{4, 5} {
		for _, c := range []struct {
			begin Begin
			seen  func(Result) int // the least of what is to be seen
			none  bool
		}{
			{begin: Silent, seen: func(r Result) int { return r.Intentions }},
			{begin: Claiming, seen: func(r Result) int {
				return min(r.Confirmations, r.Successors, r.Rivals)
			}},
			{begin: Settled, seen: func(r Result) int { return r.Confirmations + r.Successors + r.Rivals }, none: true},
		} {
			res, err := Run(Group{}, Config{Peers: peers, Faults: 1, Begin: c.begin, States: 1_000})
			if err != nil {
				t.Fatal(err)
			}
			if res.Bad > 0 || (c.seen(res) == 0) != c.none {
				t.Errorf("%d peers, %q: %+v", peers, c.begin, res)
			}
		}
	}
}

// TestSilenced: the manager may be silent for each of the five reasons, and the
// one that only one peer cannot hear has no successor.
func TestSilenced(t *testing.T) {
	for peers := 3; peers <= MaxPeers; peers++ {
		for begin, want := range map[Begin]int{Silent: 5, Claiming: 4} {
			x := newExplorer(Config{Peers: peers, Begin: begin})
			if err := x.begin(Group{}); err != nil || len(x.roots) != want {
				t.Errorf("%d peers, %s: %d beginnings, %v", peers, begin, len(x.roots), err)
			}
		}
	}
}
