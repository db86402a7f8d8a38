package transport

import (
	"context"
	"slices"
	"sync"
	"time"
)

// fairSemaphore is a number of places, and a queue for them: the waiter with the
// smallest balance goes first, and of equals the one that came first. A waiter that has
// waited for half of its time goes before all that have not: every waiter is
// eventually admitted.
type fairSemaphore struct {
	mu      sync.Mutex
	free    int
	waiting []*waiter
}

type waiter struct {
	balance int
	due     time.Time // half of the wait is over
	ready   chan struct{}
}

// take waits for a place, so long at most. After true the caller gives it back.
func (t *fairSemaphore) take(ctx context.Context, balance int, wait time.Duration) bool {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return true
	}
	w := &waiter{balance: balance, due: time.Now().Add(wait / 2), ready: make(chan struct{})}
	t.waiting = append(t.waiting, w)
	t.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-w.ready:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.waiting, w)
	if i < 0 { // it was given one meanwhile
		return true
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	return false
}

// give hands a place to whose turn it is.
func (t *fairSemaphore) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		t.free++
		return
	}
	now, next := time.Now(), 0
	for i, w := range t.waiting {
		if w.before(t.waiting[next], now) {
			next = i
		}
	}
	close(t.waiting[next].ready)
	t.waiting = slices.Delete(t.waiting, next, next+1)
}

// before reports whether w, who came later, goes before o.
func (w *waiter) before(o *waiter, now time.Time) bool {
	if !now.Before(o.due) {
		return false
	}
	return !now.Before(w.due) || w.balance < o.balance
}
