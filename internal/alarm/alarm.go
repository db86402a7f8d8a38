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
// moved: it holds no more alarms than there are things to wait for.
type Queue[K comparable] struct {
	heap  []entry[K]
	place map[K]int `state:"derived"` // of heap
	turn  uint64
}

type entry[K comparable] struct {
	at   time.Time
	turn uint64 // alarms of one instant go off in the order they were set
	key  K
}

// New returns a queue that waits for nothing.
func New[K comparable]() Queue[K] { return Queue[K]{place: map[K]int{}} }

// Clone returns an independent copy.
func (q *Queue[K]) Clone() Queue[K] {
	return Queue[K]{heap: slices.Clone(q.heap), place: maps.Clone(q.place), turn: q.turn}
}

// Len is how many alarms are set.
func (q *Queue[K]) Len() int { return len(q.heap) }

// Set makes k go off at at, instead of earlier appointments.
func (q *Queue[K]) Set(k K, at time.Time) {
	q.turn++
	if i, ok := q.place[k]; ok {
		q.heap[i].at, q.heap[i].turn = at, q.turn
		q.down(q.up(i))
		return
	}
	q.heap = append(q.heap, entry[K]{at: at, turn: q.turn, key: k})
	q.place[k] = len(q.heap) - 1
	q.up(len(q.heap) - 1)
}

// IsSet reports whether k will go off.
func (q *Queue[K]) IsSet(k K) bool {
	_, ok := q.place[k]
	return ok
}

// At returns when k goes off; the zero time if it is not set.
func (q *Queue[K]) At(k K) time.Time {
	if i, ok := q.place[k]; ok {
		return q.heap[i].at
	}
	return time.Time{}
}

// Cancel forgets k.
func (q *Queue[K]) Cancel(k K) {
	i, ok := q.place[k]
	if !ok {
		return
	}
	last := len(q.heap) - 1
	q.swap(i, last)
	q.heap = q.heap[:last]
	delete(q.place, k)
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
	clear(q.place)
	for i := range q.heap {
		q.heap[i].at, q.heap[i].turn = q.heap[i].at.Add(-by), uint64(i)
		q.place[q.heap[i].key] = i
	}
	q.turn = uint64(len(q.heap))
}

func (q *Queue[K]) less(i, j int) bool {
	if c := q.heap[i].at.Compare(q.heap[j].at); c != 0 {
		return c < 0
	}
	return q.heap[i].turn < q.heap[j].turn
}

func (q *Queue[K]) swap(i, j int) {
	if i == j {
		return
	}
	q.heap[i], q.heap[j] = q.heap[j], q.heap[i]
	q.place[q.heap[i].key], q.place[q.heap[j].key] = i, j
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
