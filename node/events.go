package node

import (
	"sync"
	"time"
)

const (
	maxEvents    = 1024                   // waiting for who listens; the oldest go beyond
	eventsWithin = 200 * time.Millisecond // for the last ones to be told
)

// events hands events to who listens, in order, on a goroutine that lives while
// there are some: a terminal that takes no output must not hold up the loop.
type events struct {
	tell func(Event)

	mu      sync.Mutex
	waiting []Event
	busy    bool
	empty   chan struct{} // holds one: told everything
}

// newEvents returns nil where nobody listens; that does nothing.
func newEvents(tell func(Event)) *events {
	if tell == nil {
		return nil
	}
	return &events{tell: tell, empty: make(chan struct{}, 1)}
}

// emit queues e. It never blocks.
func (l *events) emit(e Event) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == maxEvents {
		l.waiting = l.waiting[1:]
	}
	l.waiting = append(l.waiting, e)
	if !l.busy {
		l.busy = true
		go l.run()
	}
}

func (l *events) run() {
	for {
		e, ok := l.next()
		if !ok {
			return
		}
		l.tell(e)
	}
}

func (l *events) next() (Event, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		l.busy = false
		select {
		case l.empty <- struct{}{}:
		default:
		}
		return Event{}, false
	}
	e := l.waiting[0]
	l.waiting = l.waiting[1:]
	return e, true
}

// close waits a moment until everything was told.
func (l *events) close() {
	if l == nil {
		return
	}
	late := time.NewTimer(eventsWithin)
	defer late.Stop()
	for {
		l.mu.Lock()
		idle := !l.busy
		l.mu.Unlock()
		if idle {
			return
		}
		select {
		case <-l.empty:
		case <-late.C:
			return
		}
	}
}
