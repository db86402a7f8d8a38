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
type events struct{ line *eventLine }

type eventLine struct {
	tell func(Event)

	mu      sync.Mutex
	waiting []Event
	busy    bool
	empty   chan struct{} // holds one: told everything
}

func newEvents(tell func(Event)) events {
	if tell == nil {
		return events{}
	}
	return events{&eventLine{tell: tell, empty: make(chan struct{}, 1)}}
}

// emit queues e. It never blocks.
func (ev events) emit(e Event) {
	l := ev.line
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

func (l *eventLine) run() {
	for {
		e, ok := l.next()
		if !ok {
			return
		}
		l.tell(e)
	}
}

func (l *eventLine) next() (Event, bool) {
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
func (ev events) close() {
	l := ev.line
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
