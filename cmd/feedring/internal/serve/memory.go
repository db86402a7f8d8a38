package serve

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	restLook  = 15 * time.Second // between looks at how much was allocated
	restAlloc = 1 << 20          // bytes in that time below which a peer rests
)

// giveBack gives memory back to the system whenever a burst of work is over,
// until ctx ends. Go itself keeps twice of what the burst last used until the
// next collection, which a peer at rest has no reason to make.
func giveBack(ctx context.Context) {
	var b burst
	look := time.NewTicker(restLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		if b.over(allocated()) {
			debug.FreeOSMemory()
		}
	}
}

// burst is a time in which much was allocated.
type burst struct {
	last uint64 // bytes allocated so far, at the last look
	on   bool
}

// over takes in how much was allocated so far. It reports whether a burst ended.
func (b *burst) over(allocated uint64) bool {
	was := b.on
	b.on = allocated-b.last > restAlloc
	b.last = allocated
	return was && !b.on
}

// allocated is how many bytes of heap were allocated since the start.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
