package sim

import "testing"

// The same seed is the same run (D1).
func TestSameSeedSameHash(t *testing.T) {
	for seed := range uint64(3) {
		a, b := Faults(seed, nil), Faults(seed, func(string) {})
		if a.Hash != b.Hash || a.Steps != b.Steps || a.Virtual != b.Virtual {
			t.Errorf("seed %d: %+v, then %+v", seed, a, b)
		}
	}
}
