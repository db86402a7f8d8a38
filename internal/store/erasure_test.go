package store

import (
	"testing"
	"time"
)

// TestOldestErasuresComeFirst: one feed of which very much is taken back does not hold up
// what was taken back before, though its rows come first.
func TestOldestErasuresComeFirst(t *testing.T) {
	now := time.Unix(1e9, 0)
	var all []Erasure
	for i := range 3 * maxErasures {
		e := Erasure{Since: now.Add(time.Duration(i) * time.Second)}
		e.Entry.Ref, e.Entry.Sequence = 1, uint64(i)
		all = append(all, e)
	}
	waits := Erasure{Since: now.Add(-time.Hour)}
	waits.Entry.Ref = 9
	all = append(all, waits)
	if got := oldest(all); len(got) != maxErasures || got[0].Entry.Ref != 9 || got[1].Entry.Sequence != 0 {
		t.Errorf("%d are taken up, first that of feed %d", len(got), got[0].Entry.Ref)
	}
}
