package feed

// dueHeap is a container/heap of feeds, the one that is due first on top.
type dueHeap []*watched

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].due.Before(h[j].due) }

func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push appends a *watched, as heap.Interface wants it.
func (h *dueHeap) Push(x any) {
	f := x.(*watched)
	f.index = len(*h)
	*h = append(*h, f)
}

// Pop removes the last one.
func (h *dueHeap) Pop() any {
	old := *h
	f := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	f.index = -1
	return f
}
