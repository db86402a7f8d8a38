package serve

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

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

func TestGarbageIsBoundedByWhatLives(t *testing.T) {
	for _, c := range []struct {
		live uint64 // MiB
		want int
	}{{0, 100}, {1, 100}, {128, 100}, {160, 80}, {256, 50}, {512, 25}, {4096, 25}} {
		if got := garbagePercent(c.live << 20); got != c.want {
			t.Errorf("%d MiB live: %d %%, want %d", c.live, got, c.want)
		}
	}
}

// TestGarbageFollowsTheHeap: the bound is set as the heap grows, and lifted as it shrinks.
func TestGarbageFollowsTheHeap(t *testing.T) {
	t.Setenv("GOGC", "")
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { debug.SetGCPercent(100) })
	defer cancel()
	boundGarbage(ctx)
	comesTo := func(least, most uint64) {
		t.Helper()
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		for late := time.After(20 * time.Second); ; {
			runtime.GC()
			if metrics.Read(sample); sample[0].Value.Uint64() >= least && sample[0].Value.Uint64() <= most {
				return
			}
			select {
			case <-late:
				t.Fatalf("GOGC is %d, not %d to %d", sample[0].Value.Uint64(), least, most)
			default:
			}
		}
	}
	lives := make([]byte, 256<<20)
	comesTo(25, 50)
	runtime.KeepAlive(lives)
	lives = nil
	comesTo(100, 100)
}
