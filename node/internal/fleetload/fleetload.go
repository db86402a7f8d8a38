// Package fleetload follows how much of its memory a peer of a fleet uses, and has lists
// shortened and other peers told of less room where that is too much.
package fleetload

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedring/feedring/internal/fleet"
)

// lookEvery is the time between looks at the memory.
const lookEvery = 15 * time.Second

// Lists are the personal feeds that are open.
type Lists interface {
	// Shorten takes off what readers have polled, and returns how many entries.
	Shorten(now time.Time) int
}

// Offers tells others what this peer has room for.
type Offers interface{ Soon() }

// Load is the memory of this peer. All methods are safe for concurrent use.
type Load struct {
	limit     uint64
	shortened atomic.Uint64

	mu      sync.Mutex
	decides fleet.Load
}

// New returns the load of a peer with room for so many personal feeds.
func New(room int) *Load { return &Load{limit: memoryLimit(), decides: fleet.NewLoad(room)} }

// Told is for how many personal feeds this peer has room now.
func (l *Load) Told() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.decides.Told()
}

// Memory is what the process has of the system, and what it may have; 0: that is not
// known. In bytes.
func (l *Load) Memory() (has, limit uint64) { return taken(), l.limit }

// Shortened counts entries that were taken off lists.
func (l *Load) Shortened() uint64 { return l.shortened.Load() }

// Run looks at the memory until ctx ends.
func (l *Load) Run(ctx context.Context, lists Lists, offers Offers, log *slog.Logger) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			l.look(now, inUse(), lists, offers, log)
		}
	}
}

func (l *Load) look(now time.Time, used uint64, lists Lists, offers Offers, log *slog.Logger) {
	l.mu.Lock()
	shorten, changed := l.decides.Step(now, used, l.limit)
	told := l.decides.Told()
	l.mu.Unlock()
	if shorten {
		if n := lists.Shorten(now); n > 0 {
			l.shortened.Add(uint64(n))
			log.Warn("this peer's memory is nearly full: lists of personal feeds are shortened to what their readers have not polled", "entries", n)
		}
	}
	if changed {
		log.Warn("this peer tells its fleet for how many personal feeds it has room, by its memory", "room", told)
		offers.Soon()
	}
}
