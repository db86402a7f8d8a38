package stage

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
)

// event is one thing that will happen: a message or a report for a host, its
// next tick, or a deed of the experiment.
type event struct {
	at      time.Duration
	turn    uint64 // events of one time happen in the order in which they were put
	host    *Host
	life    int
	from    *Host
	message feedring.Message
	input   peer.Input
	tick    uint64 // which one; see Host.wake
	do      func()
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.turn < o.turn }

// queue is a heap of what will happen.
type queue struct {
	events []*event
	turn   uint64
}

func (q *queue) put(e *event) {
	q.turn++
	e.turn = q.turn
	q.events = append(q.events, e)
	i := len(q.events) - 1
	for i > 0 && q.events[i].before(q.events[(i-1)/2]) {
		q.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (q *queue) take() *event {
	first, last := q.events[0], len(q.events)-1
	q.swap(0, last)
	q.events[last] = nil
	q.events = q.events[:last]
	for i := 0; ; {
		least := 2*i + 1
		if least >= last {
			return first
		}
		if right := least + 1; right < last && q.events[right].before(q.events[least]) {
			least = right
		}
		if !q.events[least].before(q.events[i]) {
			return first
		}
		q.swap(i, least)
		i = least
	}
}

func (q *queue) swap(i, j int) { q.events[i], q.events[j] = q.events[j], q.events[i] }
