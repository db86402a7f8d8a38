package serve

import (
	"context"
	"os"
	"runtime"
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

// mostGarbage bounds the garbage of a heap in which less than four times as many bytes live.
const mostGarbage = 128 << 20 // bytes

// garbagePercent returns GOGC for a heap of so many live bytes. Before the next collection
// there is as much garbage as is live, but at most mostGarbage or, if that is more, a quarter
// of what is live. Otherwise a peer with a million personal feeds would double its memory, for
// garbage that it takes minutes to make.
func garbagePercent(live uint64) int {
	if live <= mostGarbage {
		return 100
	}
	return int(100 * max(mostGarbage, live/4) / live)
}

// boundGarbage sets GOGC after each collection, by what lives then, until ctx ends. It does
// nothing if whoever started this process set GOGC.
func boundGarbage(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	set := 100
	afterEachCollection(ctx, func() {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		if percent := garbagePercent(sample[0].Value.Uint64()); percent != set {
			set = percent
			debug.SetGCPercent(percent)
		}
	})
}

// afterEachCollection calls do soon after each collection, never twice at once, until ctx ends.
func afterEachCollection(ctx context.Context, do func()) {
	runtime.SetFinalizer(&cycle{ctx, do}, (*cycle).over)
}

// cycle is an object that nothing refers to. The next collection runs its finalizer, over,
// which sets itself again for the collection after that.
type cycle struct {
	ctx context.Context
	do  func()
}

func (c *cycle) over() {
	if c.ctx.Err() == nil {
		c.do()
		runtime.SetFinalizer(c, (*cycle).over)
	}
}
