//go:build !race

package sim

import "testing"

// The word of one member that others follow it moves nobody.
func TestUsurped(t *testing.T) {
	for seed := range uint64(5) {
		out, err := Scripted("usurped", 1+seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		if v := out.Violation; v != nil {
			t.Errorf("seed %d: %v", 1+seed, v)
		}
	}
}
