package peer

import (
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// TestABatchForNoMembershipIsToldSo: this peer is not in the group any more.
func TestABatchForNoMembershipIsToldSo(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m, err := New(Config{Self: "p", Refresh: time.Second, Attempts: 3, Freshness: 24 * time.Hour, Seed: 1}, State{}, now)
	if err != nil {
		t.Fatal(err)
	}
	g := feedring.Theme("sport").Group()
	outs := m.Step(now, In{g, group.Publish{Batch: 7, URL: "https://x.org/", Entries: 1}})
	if !slices.Contains(outs, Output(group.Unplaced{Group: g, Batch: 7})) {
		t.Errorf("told %v", outs)
	}
}
