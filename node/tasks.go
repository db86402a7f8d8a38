package node

import (
	"sync"
	"time"
)

// tasks is the goroutines of a peer. Unlike a bare WaitGroup it may be asked to
// run something while it is being waited for: it then refuses.
type tasks struct {
	mu      sync.Mutex
	running sync.WaitGroup
	ended   bool
}

// run runs f on a goroutine of its own. It returns false where end was called.
func (t *tasks) run(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return false
	}
	t.running.Go(f)
	return true
}

// end takes no more tasks and waits for those that run. It returns false when
// that took too long.
func (t *tasks) end(within time.Duration) bool {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	done := make(chan struct{})
	go func() {
		t.running.Wait()
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
