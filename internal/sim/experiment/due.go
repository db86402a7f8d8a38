package experiment

import "time"

// Due is when something is to be looked at, by its number.
type Due struct {
	At    time.Time
	Index int
}

// DueHeap is a container/heap of them, the earliest first, at one time by number.
type DueHeap []Due

func (h DueHeap) Len() int { return len(h) }
func (h DueHeap) Less(i, j int) bool {
	if !h[i].At.Equal(h[j].At) {
		return h[i].At.Before(h[j].At)
	}
	return h[i].Index < h[j].Index
}
func (h DueHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push is for container/heap.
func (h *DueHeap) Push(x any) { *h = append(*h, x.(Due)) }

// Pop is for container/heap.
func (h *DueHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
