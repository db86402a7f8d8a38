//go:build !race

package explore

import "testing"

// TestRemade lets every peer be let go at once, so that each is made again
// whenever it is needed, and forgets what became of peers. Nothing that is
// found may change by that.
func TestRemade(t *testing.T) {
	for _, cfg := range []Config{
		{Peers: 3, Faults: 2, States: 500},
		{Peers: 2, Faults: 1, Begin: Torn, States: 300},
		{Peers: 3, Faults: 3, States: 50, Seed: 1},
	} {
		want, err := Run(Group{}, cfg)
		if err != nil {
			t.Fatal(err)
		}
		x := newExplorer(cfg)
		x.interner.kept, x.interner.became = make([]slot, 16), newMemory(smallest)
		if err := x.begin(Group{}); err != nil {
			t.Fatal(err)
		}
		x.explore()
		got := x.report()
		if got.Seconds = want.Seconds; got.States != want.States || got.Transitions != want.Transitions ||
			got.Machines != want.Machines || got.Messages != want.Messages || got.Slowest != want.Slowest || got.Reach != want.Reach {
			t.Errorf("%+v: otherwise\n%+v", got, want)
		}
		if x.interner.remade < want.Machines/10 {
			t.Errorf("only %d of %d peers were made again", x.interner.remade, want.Machines)
		}
	}
}

// TestMemoryForgets: what is remembered beyond the bound is forgotten, and
// nothing is remembered wrongly.
func TestMemoryForgets(t *testing.T) {
	m := newMemory(4 * smallest)
	const asked = 20 * smallest
	for i := range uint32(asked) {
		m.put(happening{peer: peerID(i), what: fires}, step{peer: peerID(i) + 1, sent: i % 7})
	}
	known := 0
	for i := range uint32(asked) {
		s, ok := m.get(happening{peer: peerID(i), what: fires})
		if ok {
			known++
		}
		if ok && (s.peer != peerID(i)+1 || s.sent != i%7) {
			t.Fatalf("of %d it remembers %v", i, s)
		}
	}
	if len(m.keys) != 4*smallest || known < 3*smallest || known > 4*smallest {
		t.Errorf("of %d it knows %d, in %d places", asked, known, len(m.keys))
	}
}
