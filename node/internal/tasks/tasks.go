// Package tasks runs the goroutines of a peer and waits for them at its end.
package tasks

import (
	"sync"
	"time"
)

// Group is a set of goroutines. Unlike a bare WaitGroup it may be asked to run
// something while it is being waited for: it then refuses. The zero Group is
// ready for use.
type Group struct {
	mu      sync.Mutex
	running sync.WaitGroup
	ended   bool
}

// Run runs f on a goroutine of its own. It returns false after End was called.
func (g *Group) Run(f func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return false
	}
	g.running.Go(f)
	return true
}

// End takes no more tasks and waits for those that run. It returns false when
// that took too long.
func (g *Group) End(within time.Duration) bool {
	g.mu.Lock()
	g.ended = true
	g.mu.Unlock()
	done := make(chan struct{})
	go func() {
		g.running.Wait()
		close(done)
	}()
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case <-done:
		return true
	case <-late.C:
		return false
	}
}
