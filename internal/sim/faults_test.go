package sim

import "testing"

// The same seed is the same run (D1), whether somebody reads its trace or not,
// and another seed is another.
func TestSameSeedSameHash(t *testing.T) {
	seen := map[uint64]uint64{}
	for seed := range uint64(2) {
		a, b := Faults(seed, nil), Faults(seed, func(string) {})
		if a.Hash != b.Hash || a.Steps != b.Steps || a.Virtual != b.Virtual {
			t.Errorf("seed %d: %+v, then %+v", seed, a, b)
		}
		if was, twice := seen[a.Hash]; twice {
			t.Errorf("seeds %d and %d are the same run", was, seed)
		}
		seen[a.Hash] = seed
	}
}
