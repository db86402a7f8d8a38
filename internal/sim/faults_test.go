//go:build !race

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

// TestSameSeedSameTrace: not only what happened, when, and in which numbers, but every
// word of it is the same. The hash knows only the former.
func TestSameSeedSameTrace(t *testing.T) {
	for seed := range uint64(4) {
		var first, second []string
		Faults(seed, func(line string) { first = append(first, line) })
		Faults(seed, func(line string) { second = append(second, line) })
		if len(first) < 1000 || len(first) != len(second) {
			t.Fatalf("seed %d: %d lines, then %d", seed, len(first), len(second))
		}
		for i, line := range first {
			if line != second[i] {
				t.Fatalf("seed %d, line %d: %q, then %q", seed, i, line, second[i])
			}
		}
	}
}
