package peer

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// TestVanishedGroupsHoldUpNobody: a question about all groups waits for some at a time.
// Those that left the map before it was their turn are passed over after two waits, long
// before the deadline.
func TestVanishedGroupsHoldUpNobody(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m, err := New(Config{Self: "p", Refresh: time.Second, Attempts: 3, Freshness: 24 * time.Hour, Seed: 1}, State{}, now)
	if err != nil {
		t.Fatal(err)
	}
	j := &job{query: Query{ID: feedring.QueryID{1}, Within: time.Minute, Client: "c"}, from: "p",
		deadline: now.Add(time.Minute), lookups: map[feedring.GroupID]*lookup{}}
	for i := range 3 * askedAtOnce {
		j.unasked = append(j.unasked, feedring.Theme(fmt.Sprint("gone", i)).Group())
	}
	m.jobs[j.key()] = j
	m.settle(j)
	if left := len(j.unasked); left != 2*askedAtOnce {
		t.Fatalf("%d of %d groups are not asked at first, want %d", left, 3*askedAtOnce, 2*askedAtOnce)
	}
	for range 4 {
		now = m.Deadline()
		m.Step(now, Tick{})
	}
	if left := len(j.unasked); left > 0 {
		t.Errorf("%d groups wait for others that are gone", left)
	}
	if waited := now.Sub(j.deadline.Add(-time.Minute)); waited > 5*time.Second {
		t.Errorf("the last were asked after %s", waited)
	}
}
