package sim

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
)

// event is one thing that will happen: a message arrives, something that a
// node began ends, or a deed is due.
type event struct {
	to, from int32  // from: of a message, else -1
	life     uint32 // of the node; 0: of any life
	message  feedring.Message
	input    peer.Input
	do       func()
}

// queue orders events by time, and those of one time by when they were put. A
// heap of small keys over slots that are used again: no event costs an
// allocation.
type queue struct {
	keys  []key
	slots []event
	free  []int32
	turn  uint64
}

type key struct {
	at   time.Duration
	turn uint64
	slot int32
}

func (k key) before(o key) bool { return k.at < o.at || k.at == o.at && k.turn < o.turn }

func (q *queue) put(at time.Duration, e event) {
	slot := int32(len(q.slots))
	if n := len(q.free); n > 0 {
		slot = q.free[n-1]
		q.free = q.free[:n-1]
		q.slots[slot] = e
	} else {
		q.slots = append(q.slots, e)
	}
	q.turn++
	q.keys = append(q.keys, key{at: at, turn: q.turn, slot: slot})
	q.up(len(q.keys) - 1)
}

// next is when the next event is.
func (q *queue) next() (time.Duration, bool) {
	if len(q.keys) == 0 {
		return 0, false
	}
	return q.keys[0].at, true
}

func (q *queue) take() event {
	slot := q.keys[0].slot
	last := len(q.keys) - 1
	q.keys[0] = q.keys[last]
	q.keys = q.keys[:last]
	if last > 0 {
		q.down(0)
	}
	e := q.slots[slot]
	q.slots[slot] = event{}
	q.free = append(q.free, slot)
	return e
}

const fork = 4 // children of a place in the heap: fewer levels, and one line of cache each

func (q *queue) up(i int) {
	k := q.keys[i]
	for i > 0 {
		parent := (i - 1) / fork
		if !k.before(q.keys[parent]) {
			break
		}
		q.keys[i] = q.keys[parent]
		i = parent
	}
	q.keys[i] = k
}

func (q *queue) down(i int) {
	k := q.keys[i]
	for {
		first := i*fork + 1
		if first >= len(q.keys) {
			break
		}
		least := first
		for c := first + 1; c < min(first+fork, len(q.keys)); c++ {
			if q.keys[c].before(q.keys[least]) {
				least = c
			}
		}
		if !q.keys[least].before(k) {
			break
		}
		q.keys[i] = q.keys[least]
		i = least
	}
	q.keys[i] = k
}
