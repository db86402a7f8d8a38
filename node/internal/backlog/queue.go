// Package backlog hands on what readers may take slowly, such as events and lines
// of a log, without holding up who tells them.
package backlog

import (
	"sync"
	"time"
)

// Sink takes what a queue hands on. lost is how many went missing before one.
type Sink[T any] interface{ Take(one T, lost int) }

// Queue hands what it is given to its sink, in order, on a goroutine that lives
// while there is something: a terminal that takes no output must not hold up
// the loop. Beyond most the oldest go; the next one then comes with how many.
type Queue[T any] struct {
	sink Sink[T]
	most int

	mu      sync.Mutex
	waiting []T
	lost    int
	busy    bool
	empty   chan struct{} // holds one: everything was handed on
}

// New returns a queue in which so many wait at most.
func New[T any](most int, sink Sink[T]) *Queue[T] {
	return &Queue[T]{sink: sink, most: most, empty: make(chan struct{}, 1)}
}

// Add queues one. It never blocks.
func (q *Queue[T]) Add(one T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == q.most {
		q.waiting = q.waiting[1:]
		q.lost++
	}
	q.waiting = append(q.waiting, one)
	if !q.busy {
		q.busy = true
		go q.run()
	}
}

func (q *Queue[T]) run() {
	for {
		one, lost, ok := q.next()
		if !ok {
			return
		}
		q.sink.Take(one, lost)
	}
}

func (q *Queue[T]) next() (one T, lost int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.busy = false
		select {
		case q.empty <- struct{}{}:
		default:
		}
		return one, 0, false
	}
	one, lost = q.waiting[0], q.lost
	q.waiting, q.lost = q.waiting[1:], 0
	return one, lost, true
}

// Close waits until everything was handed on, for no longer than within.
func (q *Queue[T]) Close(within time.Duration) {
	late := time.NewTimer(within)
	defer late.Stop()
	for {
		q.mu.Lock()
		idle := !q.busy
		q.mu.Unlock()
		if idle {
			return
		}
		select {
		case <-q.empty:
		case <-late.C:
			return
		}
	}
}
