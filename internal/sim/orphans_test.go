//go:build !race

package sim

import "testing"

// What nobody offers any more two volunteers carry, until who offered it is back; what was taken out nobody does.
func TestOrphans(t *testing.T) { scripted(t, "orphans", 40, "orphans") }

// A turn that brings nothing goes to another peer.
func TestTurnsInVain(t *testing.T) { scripted(t, "turns in vain", 20, "turns in vain") }

// scripted plays a script in the worlds of some seeds in which peers share looks. Its check must have something to look at.
func scripted(t *testing.T, name string, last uint64, check string) {
	t.Helper()
	judged := 0
	for seed := range last {
		if !Wide(seed) {
			continue
		}
		out, err := Scripted(name, seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		if v := out.Violation; v != nil {
			t.Errorf("seed %d: %v", seed, v)
		}
		judged += out.Judged[check]
	}
	if judged == 0 {
		t.Errorf("the check %q never had anything to look at", check)
	}
}
