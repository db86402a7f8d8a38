// Package timerqueue is a queue of timers: at most one for each key, the earliest
// first. It has no clock: the caller passes the time.
package timerqueue

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Queue is a binary heap of timers with their places, so that a timer can be
// moved: it holds no more timers than there are things to wait for. Each has a
// slot that stays while it is set: no move within the heap looks a key up.
type Queue[K comparable] struct {
	heap   []entry[K]
	slots  map[K]int   `state:"derived"` // of heap
	places []int       `state:"derived"` // in heap, by slot; -1: nowhere
	free   []int       `state:"derived"` // slots
	few    int         // slots below are of keys that have a number
	number func(K) int `state:"never changes"`
	turn   uint64
}

type entry[K comparable] struct {
	at   time.Time
	turn uint64 // timers of one instant fire in the order they were set
	key  K
	slot int `state:"derived"`
}

// New returns a queue that waits for nothing.
func New[K comparable]() Queue[K] { return Queue[K]{slots: map[K]int{}} }

// Numbered returns a queue that waits for nothing, for one whose timers are
// mostly of a few keys: number gives each of those another number below few, and
// all other keys few or more. The few are found without looking them up.
func Numbered[K comparable](few int, number func(K) int) Queue[K] {
	q := Queue[K]{slots: map[K]int{}, number: number}
	q.reserve(few)
	return q
}

// reserve makes slots for the few keys that have a number: it is their slot.
func (q *Queue[K]) reserve(few int) {
	q.places = slices.Repeat([]int{nowhere}, few)
	q.few = few
}

// nowhere is the place of a slot whose timer is not set.
const nowhere = -1

// Clone returns an independent copy.
func (q *Queue[K]) Clone() Queue[K] {
	return Queue[K]{heap: slices.Clone(q.heap), slots: maps.Clone(q.slots), places: slices.Clone(q.places),
		free: slices.Clone(q.free), few: q.few, number: q.number, turn: q.turn}
}

// find returns the place of k in the heap.
func (q *Queue[K]) find(k K) (place int, set bool) {
	if q.few > 0 {
		if slot := q.number(k); slot < q.few {
			place = q.places[slot]
			return place, place != nowhere
		}
	}
	slot, set := q.slots[k]
	if !set {
		return nowhere, false
	}
	return q.places[slot], true
}

// open gives k a slot.
func (q *Queue[K]) open(k K) (slot int) {
	if q.few > 0 {
		if slot = q.number(k); slot < q.few {
			return slot
		}
	}
	if n := len(q.free); n > 0 {
		slot = q.free[n-1]
		q.free = q.free[:n-1]
	} else {
		slot = len(q.places)
		q.places = append(q.places, nowhere)
	}
	q.slots[k] = slot
	return slot
}

// close takes the slot from k.
func (q *Queue[K]) close(k K, slot int) {
	q.places[slot] = nowhere
	if slot >= q.few {
		delete(q.slots, k)
		q.free = append(q.free, slot)
	}
}

// Len is how many timers are set.
func (q *Queue[K]) Len() int { return len(q.heap) }

// Set makes k go off at at, instead of earlier appointments.
func (q *Queue[K]) Set(k K, at time.Time) {
	q.turn++
	if i, set := q.find(k); set {
		q.heap[i].at, q.heap[i].turn = at, q.turn
		q.down(q.up(i))
		return
	}
	slot := q.open(k)
	q.heap = append(q.heap, entry[K]{at: at, turn: q.turn, key: k, slot: slot})
	q.up(len(q.heap) - 1)
}

// IsSet reports whether k will go off.
func (q *Queue[K]) IsSet(k K) bool {
	_, set := q.find(k)
	return set
}

// At returns when k goes off; the zero time if it is not set.
func (q *Queue[K]) At(k K) time.Time {
	if i, set := q.find(k); set {
		return q.heap[i].at
	}
	return time.Time{}
}

// Cancel forgets k.
func (q *Queue[K]) Cancel(k K) {
	if i, set := q.find(k); set {
		q.remove(i)
	}
}

func (q *Queue[K]) remove(i int) {
	last := len(q.heap) - 1
	q.close(q.heap[i].key, q.heap[i].slot)
	if i < last {
		q.heap[i] = q.heap[last]
	}
	q.heap = q.heap[:last]
	if i < last {
		q.down(q.up(i))
	}
}

// Next returns when the first timer is due; the zero time if there is none.
func (q *Queue[K]) Next() time.Time {
	if len(q.heap) == 0 {
		return time.Time{}
	}
	return q.heap[0].at
}

// Pop takes the first timer if it is due at now.
func (q *Queue[K]) Pop(now time.Time) (k K, due bool) {
	if len(q.heap) == 0 || q.heap[0].at.After(now) {
		return k, false
	}
	k = q.heap[0].key
	q.remove(0)
	return k, true
}

// PopAll takes all timers that are due at now, in the order of their keys by
// compare.
func (q *Queue[K]) PopAll(now time.Time, compare func(a, b K) int) []K {
	if len(q.heap) == 0 || q.heap[0].at.After(now) {
		return nil
	}
	var due []K
	for {
		k, ok := q.Pop(now)
		if !ok {
			slices.SortFunc(due, compare)
			return due
		}
		due = append(due, k)
	}
}

// Rebase moves all timers back by by, forgets those that drop names, and
// numbers the others' turns anew.
func (q *Queue[K]) Rebase(by time.Duration, drop func(K) bool) {
	q.heap = slices.DeleteFunc(q.heap, func(e entry[K]) bool { return drop(e.key) })
	slices.SortFunc(q.heap, func(a, b entry[K]) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.turn, b.turn))
	})
	clear(q.slots)
	q.free = nil
	q.reserve(q.few)
	for i := range q.heap {
		e := &q.heap[i]
		e.at, e.turn, e.slot = e.at.Add(-by), uint64(i), q.open(e.key)
		q.places[e.slot] = i
	}
	q.turn = uint64(len(q.heap))
}

func (e *entry[K]) before(o *entry[K]) bool {
	if c := e.at.Compare(o.at); c != 0 {
		return c < 0
	}
	return e.turn < o.turn
}

func (q *Queue[K]) put(i int, e entry[K]) {
	q.heap[i] = e
	q.places[e.slot] = i
}

// up moves the timer at i towards the first as far as it belongs, and returns
// its place.
func (q *Queue[K]) up(i int) int {
	if i == 0 || !q.heap[i].before(&q.heap[(i-1)/2]) {
		q.places[q.heap[i].slot] = i
		return i // as most of all: nothing is moved
	}
	e := q.heap[i]
	for i > 0 && e.before(&q.heap[(i-1)/2]) {
		q.put(i, q.heap[(i-1)/2])
		i = (i - 1) / 2
	}
	q.put(i, e)
	return i
}

// down moves it away from the first.
func (q *Queue[K]) down(i int) {
	next, below := q.below(i)
	if !below || !q.heap[next].before(&q.heap[i]) {
		return
	}
	e := q.heap[i]
	for below && q.heap[next].before(&e) {
		q.put(i, q.heap[next])
		i = next
		next, below = q.below(i)
	}
	q.put(i, e)
}

// below returns the first of the timers right below the one at i.
func (q *Queue[K]) below(i int) (least int, some bool) {
	least = 2*i + 1
	if least >= len(q.heap) {
		return 0, false
	}
	if next := least + 1; next < len(q.heap) && q.heap[next].before(&q.heap[least]) {
		least = next
	}
	return least, true
}
