package watch

import "container/heap"

// queue is a container/heap of feeds, the one that is due first on top, or whose
// turn comes first. A feed is in one queue at most, and knows in which.
type queue struct {
	feeds  []*watched
	byTurn bool
}

func (q *queue) add(f *watched) { heap.Push(q, f) }
func (q *queue) take() *watched { return heap.Pop(q).(*watched) }
func (q *queue) top() (*watched, bool) {
	if len(q.feeds) == 0 {
		return nil, false
	}
	return q.feeds[0], true
}

// leave takes f out of the queue that it is in.
func (f *watched) leave() {
	if f.in != nil {
		heap.Remove(f.in, int(f.index))
	}
}

func (q *queue) Len() int { return len(q.feeds) }
func (q *queue) Less(i, j int) bool {
	if q.byTurn {
		return q.feeds[i].turn() < q.feeds[j].turn()
	}
	return q.feeds[i].due < q.feeds[j].due
}

func (q *queue) Swap(i, j int) {
	q.feeds[i], q.feeds[j] = q.feeds[j], q.feeds[i]
	q.feeds[i].index, q.feeds[j].index = int32(i), int32(j)
}

// Push appends a *watched, as heap.Interface wants it.
func (q *queue) Push(x any) {
	f := x.(*watched)
	f.in, f.index = q, int32(len(q.feeds))
	q.feeds = append(q.feeds, f)
}

// Pop removes the last one.
func (q *queue) Pop() any {
	last := len(q.feeds) - 1
	f := q.feeds[last]
	q.feeds[last] = nil
	q.feeds = q.feeds[:last]
	f.in = nil
	return f
}
