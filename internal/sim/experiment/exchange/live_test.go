package exchange

import (
	"fmt"
	"testing"
	"time"
)

// TestNodesExchangeWithoutTheModel hands calls from node to node as a network would: a new
// entry goes to who is interested, once, and not back to where it came from.
func TestNodesExchangeWithoutTheModel(t *testing.T) {
	nodes := []*Node{NewNode(0, 2, []int{0}), NewNode(1, 2, []int{0, 1}), NewNode(2, 2, []int{1})}
	for range 3 {
		for _, link := range [][2]int{{0, 1}, {1, 0}, {1, 2}, {2, 1}} {
			nodes[link[1]].Neighbour(link[0], nodes[link[0]].Interest(link[1]))
		}
	}
	if told := fmt.Sprint(nodes[1].Interest(0), nodes[0].Interest(1), nodes[2].Interest(1)); told != "[0 0] [0 4] [4 0]" {
		t.Errorf("neighbours are told of interests %s", told)
	}
	give := func(from int, checks []Check) (then []Check) {
		for _, c := range checks {
			if nodes[c.To].Seen(c.Bundle) {
				continue
			}
			if b, ok := nodes[from].Unseen(c.To, c.Bundle); ok {
				_, next := nodes[c.To].Put(time.Minute, from, b)
				then = append(then, next...)
			}
		}
		return then
	}
	first := nodes[0].Fetched(0, 0, []int32{3, 4})
	if len(first) != 1 || first[0].To != 1 {
		t.Fatalf("asked %v about a feed that 1 subscribes to", first)
	}
	if then := give(0, first); len(then) != 0 {
		t.Errorf("1 asked %v: 0 gave it the bundle, and 2 wants nothing of it", then)
	}
	if at, ok := nodes[1].Held(0, 4); !ok || at != time.Minute {
		t.Errorf("1 has the entry since %v (%v)", at, ok)
	}
	if again := nodes[0].Fetched(time.Hour, 0, []int32{3, 4}); len(again) != 0 {
		t.Errorf("asked %v about what is old", again)
	}
	if fresh, then := nodes[1].Put(time.Hour, 0, Bundle{ID: 7, Feed: 1, Entries: []int32{9}, Path: []int{1}}); len(fresh) != 0 || len(then) != 0 {
		t.Errorf("took %v that went through itself, and asked %v", fresh, then)
	}
}

// TestReplayMissesWhatCameAndWent plays a feed whose entries are gone before some look.
func TestReplayMissesWhatCameAndWent(t *testing.T) {
	r := Replay{Seed: 1, Nodes: 6, Each: 1, Every: 4 * time.Hour, Length: 12 * time.Hour, Hop: func(int, int) time.Duration { return time.Second }}
	var f Published
	for at := time.Hour; at < 8*time.Hour; at += time.Hour {
		f.At, f.Gone = append(f.At, at, at), append(f.Gone, at+5*time.Hour, at+time.Millisecond)
	}
	r.Feeds = []Published{f}
	row := r.Row()
	if row.Alone.Missed.Mean != 0.5 || row.FeedEx.Missed.Mean != 0.5 {
		t.Errorf("missed %.2f alone and %.2f by FeedEx of entries half of which are gone at once", row.Alone.Missed.Mean, row.FeedEx.Missed.Mean)
	}
	if row.FeedEx.Lag.Mean > row.Alone.Lag.Mean/2 {
		t.Errorf("lag %.1f min alone, %.1f by FeedEx", row.Alone.Lag.Mean, row.FeedEx.Lag.Mean)
	}
	for i, first := range r.First() {
		if len(first) != 1 || first[0] < 0 || first[0] >= r.Every {
			t.Errorf("node %d fetches at %v", i, first)
		}
	}
}
