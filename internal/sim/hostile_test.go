//go:build !race

package sim

import "testing"

// Whatever members say that turn hostile, the others keep every invariant, and agree afterwards as
// after crashes.
func TestHostileMembers(t *testing.T) {
	for seed := range uint64(6) {
		out := Hostile(1+seed, nil)
		if v := out.Violation; v != nil {
			t.Errorf("seed %d: %v", 1+seed, v)
		}
		if out.Judged["hostile messages"] < 100 {
			t.Errorf("seed %d: %d hostile messages", 1+seed, out.Judged["hostile messages"])
		}
	}
}
