//go:build !race

package explore

import (
	"strings"
	"testing"
)

// TestYield begins where a provisional manager is about to learn of the manager
// that it missed, while a peer that started again asks it for admission. A
// claim that was given up must not be made again and given up again for ever,
// because that peer took it.
func TestYield(t *testing.T) {
	x := newExplorer(Config{Peers: 3, Begin: Torn, States: 4_000})
	if err := x.begin(Group{}); err != nil {
		t.Fatal(err)
	}
	var torn []*state
	for _, s := range x.roots {
		if x.serves(s, 0) && !x.interner.briefs[s.peers[1]].up && x.serves(s, 2) {
			torn = append(torn, s)
		}
	}
	if len(torn) == 0 {
		t.Fatal("no group is torn so")
	}
	x.roots = torn
	noneBad(t, x)
}

// TestYieldBoth stops a manager until another peer has claimed: each may then
// have yielded to the other, and nobody manages until one claims anew.
func TestYieldBoth(t *testing.T) {
	x := newExplorer(Config{Peers: 3, Faults: 1, Kinds: Stops, States: 10_000})
	if err := x.begin(Group{}); err != nil {
		t.Fatal(err)
	}
	noneBad(t, x)
}

func noneBad(t *testing.T, x *explorer) {
	t.Helper()
	x.explore()
	if x.traces(); x.result.Bad > 0 {
		t.Errorf("%d of %d states are bad\n%s", x.result.Bad, x.result.States, strings.Join(x.result.Trace, "\n"))
	}
}
