package sim

import (
	"math/bits"
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

// queue orders events by time, and those of one time by when they were put. Time
// does not go back, so that it need not be sorted far ahead: bucket i+1 holds
// what differs from the last event's time in bit i and in no higher one, as it
// came, and is parted among those below once they are empty. No event costs
// an allocation.
type queue struct {
	last    time.Duration // of the event that was taken last: none is put before it
	buckets [64][]key     // the first has those of last
	filled  uint64        // bit i: bucket i has some
	taken   int           // of the first
	slots   []event
	free    []int32
}

// key is a place in the order, and where the event is.
type key struct {
	at   time.Duration
	slot int32
}

// put puts an event, which is not before the one that was taken last.
func (q *queue) put(at time.Duration, e event) {
	slot := int32(len(q.slots))
	if n := len(q.free); n > 0 {
		slot = q.free[n-1]
		q.free = q.free[:n-1]
		q.slots[slot] = e
	} else {
		q.slots = append(q.slots, e)
	}
	q.keep(key{max(at, q.last), slot})
}

func (q *queue) keep(k key) {
	i := bits.Len64(uint64(k.at ^ q.last))
	q.buckets[i] = append(q.buckets[i], k)
	q.filled |= 1 << i
}

// next is when the next event is.
func (q *queue) next() (time.Duration, bool) {
	if q.filled == 0 {
		return 0, false
	}
	first := bits.TrailingZeros64(q.filled)
	if first == 0 {
		return q.last, true
	}
	least := q.buckets[first][0].at
	for _, k := range q.buckets[first][1:] {
		least = min(least, k.at)
	}
	return least, true
}

// take takes the next event, which there is.
func (q *queue) take() event {
	if q.filled&1 == 0 {
		q.part()
	}
	slot := q.buckets[0][q.taken].slot
	if q.taken++; q.taken == len(q.buckets[0]) {
		q.buckets[0], q.taken = q.buckets[0][:0], 0
		q.filled &^= 1
	}
	e := q.slots[slot]
	q.slots[slot] = event{}
	q.free = append(q.free, slot)
	return e
}

// part goes on to the next event, and parts its bucket among those below.
func (q *queue) part() {
	q.last, _ = q.next()
	first := bits.TrailingZeros64(q.filled)
	keys := q.buckets[first]
	q.buckets[first] = keys[:0]
	q.filled &^= 1 << first
	for _, k := range keys {
		q.keep(k)
	}
}
