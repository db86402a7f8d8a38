package experiment

import (
	"testing"
	"time"
)

// With the paper's search every other group is visited once, at depth
// floor(N/2) at most: N-1 forwards and an EXHAUSTED for each arc.
func TestSearchCost(t *testing.T) {
	got, err := Search(SearchConfig{Seed: 1, Groups: []int{1, 2, 3, 8, 13}, Queries: 13, Delay: 5 * time.Millisecond}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range got.Rows {
		n := row.Groups
		arcs := min(n-1, 2)
		if row.Absent.Most != n-1+arcs || row.Absent.Deepest != n/2 || row.Absent.Answered != 0 {
			t.Errorf("N = %d: nobody serves it: %+v", n, row.Absent)
		}
		if row.Ring.Answered != n || row.Ring.Deepest != n/2 {
			t.Errorf("N = %d: by the ring: %+v", n, row.Ring)
		}
		sum := 0 // of the depths of all groups from one of them
		for i := range n {
			sum += min(i, n-i)
		}
		if want := float64(sum) / float64(n); row.Ring.Depth != want {
			t.Errorf("N = %d: the mean depth is %v, not %v", n, row.Ring.Depth, want)
		}
		if n > 1 && (row.Shortcut.Most != 2 || row.Shortcut.Deepest != 1 || row.Shortcut.Answered != n) {
			t.Errorf("N = %d: by shortcuts: %+v", n, row.Shortcut)
		}
		if row.Ring.Wire < row.Ring.Messages || row.Paper != n+5 {
			t.Errorf("N = %d: %+v", n, row)
		}
	}
}

func TestSearchAgain(t *testing.T) {
	cfg := SearchConfig{Seed: 3, Groups: []int{7}, Queries: 5, Delay: 5 * time.Millisecond}
	a, _ := Search(cfg, nil)
	b, _ := Search(cfg, nil)
	if len(a.Rows) != 1 || a.Rows[0] != b.Rows[0] {
		t.Errorf("%+v, then %+v", a.Rows, b.Rows)
	}
}

func TestKademlia(t *testing.T) {
	small, large := Kademlia(1, 20, 50), Kademlia(1, 1000, 50)
	if small.Messages != 0 {
		t.Errorf("all of 20 nodes hold every record, but %v messages", small.Messages)
	}
	// With k = 20 a step gains more than a bit: far fewer rounds than log2 N.
	if large.Rounds < 1 || large.Rounds > 5 || large.Messages < 2 {
		t.Errorf("1,000 nodes: %+v", large)
	}
	if large.Exhaustive < 2*bucketSize {
		t.Errorf("%v messages to ask the %d closest", large.Exhaustive, bucketSize)
	}
}
