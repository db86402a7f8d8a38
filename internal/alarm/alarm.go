// Package alarm is what a machine waits for: at most one alarm of each kind,
// the next one first. It has no clock: who holds it says what time it is.
package alarm

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Queue is a binary heap of alarms with their places, so that an alarm can be
// moved: it holds no more alarms than there are things to wait for. Each has a
// slot that stays while it is set: no move within the heap looks a key up.
type Queue[K comparable] struct {
	heap   []entry[K]
	slots  map[K]int `state:"derived"` // of heap
	places []int     `state:"derived"` // in heap, by slot
	free   []int     `state:"derived"` // slots
	turn   uint64
}

type entry[K comparable] struct {
	at   time.Time
	turn uint64 // alarms of one instant go off in the order they were set
	key  K
	slot int `state:"derived"`
}

// New returns a queue that waits for nothing.
func New[K comparable]() Queue[K] { return Queue[K]{slots: map[K]int{}} }

// Clone returns an independent copy.
func (q *Queue[K]) Clone() Queue[K] {
	return Queue[K]{heap: slices.Clone(q.heap), slots: maps.Clone(q.slots),
		places: slices.Clone(q.places), free: slices.Clone(q.free), turn: q.turn}
}

// Len is how many alarms are set.
func (q *Queue[K]) Len() int { return len(q.heap) }

// Set makes k go off at at, instead of earlier appointments.
func (q *Queue[K]) Set(k K, at time.Time) {
	q.turn++
	if slot, ok := q.slots[k]; ok {
		i := q.places[slot]
		q.heap[i].at, q.heap[i].turn = at, q.turn
		q.down(q.up(i))
		return
	}
	slot := len(q.places)
	if n := len(q.free); n > 0 {
		slot = q.free[n-1]
		q.free = q.free[:n-1]
	} else {
		q.places = append(q.places, 0)
	}
	q.slots[k], q.places[slot] = slot, len(q.heap)
	q.heap = append(q.heap, entry[K]{at: at, turn: q.turn, key: k, slot: slot})
	q.up(len(q.heap) - 1)
}

// IsSet reports whether k will go off.
func (q *Queue[K]) IsSet(k K) bool {
	_, ok := q.slots[k]
	return ok
}

// At returns when k goes off; the zero time if it is not set.
func (q *Queue[K]) At(k K) time.Time {
	if slot, ok := q.slots[k]; ok {
		return q.heap[q.places[slot]].at
	}
	return time.Time{}
}

// Cancel forgets k.
func (q *Queue[K]) Cancel(k K) {
	slot, ok := q.slots[k]
	if !ok {
		return
	}
	i, last := q.places[slot], len(q.heap)-1
	q.swap(i, last)
	q.heap = q.heap[:last]
	delete(q.slots, k)
	q.free = append(q.free, slot)
	if i < last {
		q.down(q.up(i))
	}
}

// Next returns when the first alarm is due; the zero time if there is none.
func (q *Queue[K]) Next() time.Time {
	if len(q.heap) == 0 {
		return time.Time{}
	}
	return q.heap[0].at
}

// Pop takes the first alarm if it is due at now.
func (q *Queue[K]) Pop(now time.Time) (k K, due bool) {
	if len(q.heap) == 0 || q.heap[0].at.After(now) {
		return k, false
	}
	k = q.heap[0].key
	q.Cancel(k)
	return k, true
}

// PopAll takes all alarms that are due at now, in the order of their keys by
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

// Rebase moves all alarms back by by, forgets those that drop names, and
// numbers the others' turns anew.
func (q *Queue[K]) Rebase(by time.Duration, drop func(K) bool) {
	q.heap = slices.DeleteFunc(q.heap, func(e entry[K]) bool { return drop(e.key) })
	slices.SortFunc(q.heap, func(a, b entry[K]) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.turn, b.turn))
	})
	clear(q.slots)
	q.places, q.free = make([]int, len(q.heap)), nil
	for i := range q.heap {
		e := &q.heap[i]
		e.at, e.turn, e.slot = e.at.Add(-by), uint64(i), i
		q.slots[e.key], q.places[i] = i, i
	}
	q.turn = uint64(len(q.heap))
}

func (q *Queue[K]) less(i, j int) bool {
	a, b := &q.heap[i], &q.heap[j]
	if c := a.at.Compare(b.at); c != 0 {
		return c < 0
	}
	return a.turn < b.turn
}

func (q *Queue[K]) swap(i, j int) {
	if i == j {
		return
	}
	q.heap[i], q.heap[j] = q.heap[j], q.heap[i]
	q.places[q.heap[i].slot], q.places[q.heap[j].slot] = i, j
}

func (q *Queue[K]) up(i int) int {
	for i > 0 && q.less(i, (i-1)/2) {
		q.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
	return i
}

func (q *Queue[K]) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(q.heap); child++ {
			if q.less(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		q.swap(i, least)
		i = least
	}
}
