package match

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestFoldingByEightsChangesNothing compares appendWords with the rules for all
// scripts, which go character by character, at all limits.
func TestFoldingByEightsChangesNothing(t *testing.T) {
	slow := func(s string, limit int) string {
		f := folder{limit: limit}
		for piece := range strings.SplitSeq(s, " ") {
			f.piece(piece)
			f.end()
		}
		return string(f.out)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 5_000 {
		var b strings.Builder
		for range rng.IntN(40) {
			switch rng.IntN(12) {
			case 0, 1:
				b.WriteByte(' ')
			case 2:
				b.WriteByte(byte(rng.IntN(128)))
			case 3:
				b.WriteString([]string{"é", "Ł", "·", "京都", "\u0301", "…", "½", "ß"}[rng.IntN(8)])
			default:
				b.WriteByte("azAZ09mM"[rng.IntN(8)])
			}
		}
		for _, limit := range []int{math.MaxInt, rng.IntN(40)} {
			got, want := string(appendWords(nil, b.String(), limit)), slow(b.String(), limit)
			if got != want {
				t.Fatalf("%q within %d: %q, not %q", b.String(), limit, got, want)
			}
		}
	}
}
