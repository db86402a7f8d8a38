package group

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/replication"
)

// TestUnplacedBatchIsReported: each batch gets positions or is said to get
// none: whoever waits for it would wait in vain.
func TestUnplacedBatchIsReported(t *testing.T) {
	const rest = "https://x.org/"
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := newAlone(t, now)
	var placed, full, none []uint64
	var disk []Append // not yet written
	step := func(in Input) {
		todo := []Input{in}
		for len(todo) > 0 {
			outs := m.Step(now, todo[0])
			todo = todo[1:]
			for _, out := range outs {
				switch o := out.(type) {
				case Persist:
					todo = append(todo, Persisted{Token: o.Token})
				case Append:
					placed, disk = append(placed, o.Batch), append(disk, o)
				case Unplaced:
					if o.Full {
						full = append(full, o.Batch)
					} else {
						none = append(none, o.Batch)
					}
				}
			}
		}
	}
	told := func(what string, got []uint64, want ...uint64) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, not %v", what, got, want)
		}
	}
	feeds := []feedring.Feed{{URL: rest, Provider: "x.org"}}
	for n := range 1000 { // far more than the row has room for
		feeds = append(feeds, feedring.Feed{URL: fmt.Sprintf("https://y.org/%04d%s", n, strings.Repeat("y", 1900)), Provider: "y.org"})
	}
	step(Holding{})
	step(Describe{Feeds: feeds})
	step(Establish{})
	for range 100 {
		now = now.Add(100 * time.Millisecond)
		step(Tick{})
	}
	step(Publish{Batch: 1, URL: feeds[1000].URL, Entries: 1})
	told("a feed without room", none, 1)

	for n := uint64(2); n <= replication.MaxQueue+4; n++ { // one is on its way to the disk, the others wait
		step(Publish{Batch: n, URL: rest, Entries: 1})
	}
	told("the first", placed, 2)
	told("beyond those that wait", full, replication.MaxQueue+3, replication.MaxQueue+4)
	a := disk[0]
	step(Appended{Batch: a.Batch, Head: feedring.Head{Feed: a.Feed, Position: a.First}})
	told("the next", placed, 2, 3)

	disk = disk[1:]
	step(Describe{Feeds: nil})
	step(Appended{Batch: disk[0].Batch, Head: feedring.Head{Feed: disk[0].Feed, Position: disk[0].First}})
	step(Publish{Batch: 99, URL: "https://never.org/", Entries: 1})
	told("a feed that is not in the row", none, 1, 99)
}

// TestBatchesOfRemovedFeedAreUnplaced: it was added and taken out while the group is
// entered.
func TestBatchesOfRemovedFeedAreUnplaced(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := newAlone(t, now)
	m.Step(now, Holding{})
	m.Step(now, Describe{Feeds: []feedring.Feed{{URL: "https://x.org/", Provider: "x.org"}}})
	m.Step(now, Publish{Batch: 7, URL: "https://x.org/", Entries: 1})
	outs := m.Step(now, Describe{})
	if !slices.Contains(outs, Output(Unplaced{Group: feedring.Theme("news").Group(), Batch: 7})) {
		t.Errorf("told %v", outs)
	}
}

func newAlone(t *testing.T, now time.Time) *Machine {
	t.Helper()
	m, err := New(Config{Self: "p", Theme: "news", Refresh: time.Second, Attempts: 3, Freshness: 24 * time.Hour, Seed: 1}, State{}, now)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
