//go:build !race

package store

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// TestGrowth appends and prunes for a long time what is always the same
// amount: once compaction is through, the room on disk has not grown with the
// time.
func TestGrowth(t *testing.T) {
	if testing.Short() {
		t.Skip("appends 60,000 entries")
	}
	s := open(t, t.TempDir(), Options{})
	r := random(1)
	const rounds, per = 60, 1000
	for round := range rounds {
		items := make([]Item, per)
		for i := range items {
			items[i] = makeItem(r, i%5, round*per/5+i/5)
		}
		mustAppend(t, s, items...)
		_, err := s.Prune(ctx, items[0].Seen, func(feedring.FeedRef) bool { return false })
		check(t, err)
	}
	const most = 40 << 20 // a third of what was written
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(30 * time.Second); ; <-tick.C {
		stats, err := s.Stats()
		check(t, err)
		if stats.Entries != per {
			t.Fatalf("%d entries", stats.Entries)
		}
		if stats.Bytes <= most {
			t.Logf("%d MiB on disk for %d entries of %d appended", stats.Bytes>>20, per, rounds*per)
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the store grew to %d MiB", stats.Bytes>>20)
		}
	}
}
