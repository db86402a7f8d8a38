//go:build !race

package sim

import "testing"

// Whatever members say that turn hostile, the others keep every invariant, and agree afterwards as
// after crashes. The later seeds once found something: takeovers and repeated claims that the checks took
// for wrong, and a term so far above the manager's that it left who had accepted it alone.
func TestHostileMembers(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3, 92, 419, 553} {
		out := Hostile(seed, nil)
		if v := out.Violation; v != nil {
			t.Errorf("seed %d: %v", seed, v)
		}
		if n := out.Judged["hostile messages"]; n < 100 {
			t.Errorf("seed %d: %d hostile messages", seed, n)
		}
	}
}
