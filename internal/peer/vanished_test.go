package peer

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// TestVanishedGroupsHoldUpNobody: a question about all groups waits for some at a time.
// Those that left the map before it was their turn are passed over, and the question is
// answered long before its deadline.
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
	for range 20 {
		if m.jobs[j.key()] == nil {
			break
		}
		now = m.Deadline()
		m.Step(now, Tick{})
	}
	if left := len(j.unasked); left > 0 || m.jobs[j.key()] != nil {
		t.Errorf("%d groups wait for others that are gone, or the question does", left)
	}
	if waited := now.Sub(j.deadline.Add(-time.Minute)); waited > 10*time.Second {
		t.Errorf("it was answered after %s", waited)
	}
}
