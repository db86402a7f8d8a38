package timerqueue

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// The queue against a plain map, with keys that have a number and without.
func TestQueueAgainstAMap(t *testing.T) {
	for few := range 3 {
		q := Numbered(10*few, func(k int) int { return min((k+5)%40, 10*few) })
		againstAMap(t, &q, 10*few)
	}
	q := New[int]()
	againstAMap(t, &q, 0)
}

func againstAMap(t *testing.T, q *Queue[int], few int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 9))
	want := map[int]time.Time{}
	for range 5000 {
		k := rng.IntN(40)
		switch at := start.Add(time.Duration(rng.IntN(1000))); rng.IntN(4) {
		case 0, 1:
			q.Set(k, at)
			want[k] = at
		case 2:
			q.Cancel(k)
			delete(want, k)
		default:
			got, ok := q.Pop(at)
			least := time.Time{}
			for _, w := range want {
				if least.IsZero() || w.Before(least) {
					least = w
				}
			}
			if due := !least.IsZero() && !least.After(at); ok != due || ok && !want[got].Equal(least) {
				t.Fatalf("popped %v %v, first is %v", got, ok, least)
			}
			if ok {
				delete(want, got)
			}
		}
		if rng.IntN(500) == 0 {
			q.Rebase(time.Second, func(k int) bool { return k == 7 })
			delete(want, 7)
			for k, w := range want {
				want[k] = w.Add(-time.Second)
			}
		}
		if len(want) != q.Len() || len(q.slots) > len(want) || few == 0 && len(q.slots) != len(want) || few+len(q.slots)+len(q.free) != len(q.places) || !q.At(k).Equal(want[k]) || q.IsSet(k) != !want[k].IsZero() {
			t.Fatal(len(want), q.Len(), len(q.slots), len(q.places))
		}
	}
}

func TestOneInstantInOrder(t *testing.T) {
	q := New[int]()
	for _, k := range []int{3, 1, 2, 3} {
		q.Set(k, start)
	}
	c := q.Clone()
	q.Rebase(time.Hour, func(k int) bool { return k == 2 })
	for _, want := range []int{1, 3} {
		if k, due := q.Pop(start.Add(-time.Hour)); !due || k != want {
			t.Error(k, due, "instead of", want)
		}
	}
	for _, want := range []int{1, 2, 3} {
		if k, due := c.Pop(start); !due || k != want {
			t.Error(k, due, "of the clone instead of", want)
		}
	}
}

func TestPopAllOrdersByKey(t *testing.T) {
	q := New[int]()
	for i, key := range []int{5, 2, 9, 1} {
		q.Set(key, start.Add(time.Duration(i)*time.Second))
	}
	if got := q.PopAll(start.Add(2*time.Second), cmp.Compare); !slices.Equal(got, []int{2, 5, 9}) || q.Len() != 1 {
		t.Error(got, q.Len())
	}
	if got := q.PopAll(start.Add(2*time.Second), cmp.Compare); got != nil {
		t.Error(got)
	}
}
