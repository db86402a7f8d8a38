package serve

import "testing"

// TestMemoryIsGivenBackOnceAfterEachBurst: never while it lasts, since each time
// costs a collection, and not again while the peer rests.
func TestMemoryIsGivenBackOnceAfterEachBurst(t *testing.T) {
	var b burst
	sum := uint64(0)
	for i, step := range []struct {
		mib  uint64
		over bool
	}{{0, false}, {40, false}, {9, false}, {0, true}, {0, false}, {1, false}, {2, false}, {1, true}, {0, false}} {
		sum += step.mib << 20
		if got := b.over(sum); got != step.over {
			t.Errorf("look %d, %d MiB since the last: over is %t", i, step.mib, got)
		}
	}
}
