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
	line  []key // of putLast
	slots []event
	free  []int32
	turn  uint64
}

// key is a place in the order, and at its end the slot: four children of a place
// are one line of cache.
type key struct {
	at   time.Duration
	turn uint64 // when it was put, and in the lowest slotBits where the event is
}

const slotBits = 24

func (k key) before(o key) bool { return k.at < o.at || k.at == o.at && k.turn < o.turn }

func (q *queue) put(at time.Duration, e event) { q.up(q.keep(at, e)) }

// putLast puts an event that is after all others that it was called with: these
// need no heap.
func (q *queue) putLast(at time.Duration, e event) {
	k := q.keep(at, e)
	if n := len(q.line); n > 0 && k.before(q.line[n-1]) {
		q.up(k)
		return
	}
	q.line = append(q.line, k)
}

// keep keeps an event, and returns its key.
func (q *queue) keep(at time.Duration, e event) key {
	slot := len(q.slots)
	if n := len(q.free); n > 0 {
		slot = int(q.free[n-1])
		q.free = q.free[:n-1]
		q.slots[slot] = e
	} else {
		if slot == 1<<slotBits {
			panic("sim: more events wait than the queue can number")
		}
		q.slots = append(q.slots, e)
	}
	q.turn++
	return key{at: at, turn: q.turn<<slotBits | uint64(slot)}
}

// next is when the next event is.
func (q *queue) next() (time.Duration, bool) {
	switch {
	case len(q.keys) == 0 && len(q.line) == 0:
		return 0, false
	case q.inLine():
		return q.line[0].at, true
	}
	return q.keys[0].at, true
}

// inLine reports whether the first event is one of the line.
func (q *queue) inLine() bool {
	return len(q.line) > 0 && (len(q.keys) == 0 || q.line[0].before(q.keys[0]))
}

func (q *queue) take() event {
	var first key
	if q.inLine() {
		first, q.line = q.line[0], q.line[1:]
	} else {
		first = q.keys[0]
		last := len(q.keys) - 1
		k := q.keys[last]
		q.keys = q.keys[:last]
		if last > 0 {
			q.fill(k)
		}
	}
	slot := first.turn & (1<<slotBits - 1)
	e := q.slots[slot]
	q.slots[slot] = event{}
	q.free = append(q.free, int32(slot))
	return e
}

const fork = 4 // children of a place in the heap: fewer levels, and one line of cache each

// up puts a key in, from the end.
func (q *queue) up(k key) {
	i := len(q.keys)
	q.keys = append(q.keys, k)
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

// fill puts k, which was the last, into the heap without its first. The hole
// goes down to a leaf and k up from there: where the last of all comes to be is
// near the end nearly always.
func (q *queue) fill(k key) {
	keys, i := q.keys, 0
	for {
		first := i*fork + 1
		if first+fork > len(keys) {
			break
		}
		children := keys[first : first+fork : first+fork]
		a, b := 0, 2
		if children[1].before(children[0]) {
			a = 1
		}
		if children[3].before(children[2]) {
			b = 3
		}
		if children[b].before(children[a]) {
			a = b
		}
		keys[i] = children[a]
		i = first + a
	}
	if first := i*fork + 1; first < len(keys) {
		least := first
		for c := first + 1; c < len(keys); c++ {
			if keys[c].before(keys[least]) {
				least = c
			}
		}
		keys[i] = keys[least]
		i = least
	}
	for i > 0 {
		parent := (i - 1) / fork
		if !k.before(keys[parent]) {
			break
		}
		keys[i] = keys[parent]
		i = parent
	}
	keys[i] = k
}
