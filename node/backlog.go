package node

import (
	"sync"
	"time"
)

// backlog hands what it is given to tell, in order, on a goroutine that lives
// while there is something: a terminal that takes no output must not hold up
// the loop. Beyond most the oldest go; the next one then comes with how many.
type backlog[T any] struct {
	tell func(one T, lost int)
	most int

	mu      sync.Mutex
	waiting []T
	lost    int
	busy    bool
	empty   chan struct{} // holds one: told everything
}

func newBacklog[T any](most int, tell func(one T, lost int)) *backlog[T] {
	return &backlog[T]{tell: tell, most: most, empty: make(chan struct{}, 1)}
}

// add queues one. It never blocks.
func (b *backlog[T]) add(one T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == b.most {
		b.waiting = b.waiting[1:]
		b.lost++
	}
	b.waiting = append(b.waiting, one)
	if !b.busy {
		b.busy = true
		go b.run()
	}
}

func (b *backlog[T]) run() {
	for {
		one, lost, ok := b.next()
		if !ok {
			return
		}
		b.tell(one, lost)
	}
}

func (b *backlog[T]) next() (one T, lost int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		b.busy = false
		select {
		case b.empty <- struct{}{}:
		default:
		}
		return one, 0, false
	}
	one, lost = b.waiting[0], b.lost
	b.waiting, b.lost = b.waiting[1:], 0
	return one, lost, true
}

// close waits until everything was told, for no longer than within.
func (b *backlog[T]) close(within time.Duration) {
	late := time.NewTimer(within)
	defer late.Stop()
	for {
		b.mu.Lock()
		idle := !b.busy
		b.mu.Unlock()
		if idle {
			return
		}
		select {
		case <-b.empty:
		case <-late.C:
			return
		}
	}
}
