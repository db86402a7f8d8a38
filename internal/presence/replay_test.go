package presence

import (
	"testing"
	"time"
)

// TestReplaysDoNotKeepAProcessWaiting: a witness that repeats what earlier lives
// said, one after the other and over and over, delays a process that has started,
// but does not keep it from publishing.
func TestReplaysDoNotKeepAProcessWaiting(t *testing.T) {
	w := newWorld(t, 0)
	m := New(Config{Refresh: r, Instance: 1000, Since: w.now}, w.now)
	began := w.now
	m.Step(w.now, Tick{})
	for lie := uint64(1); m.state == Waits && w.now.Sub(began) < time.Hour; lie++ {
		w.now = w.now.Add(time.Second)
		old := Statement{Instance: lie%12 + 1, Count: 9, Since: began.Add(-time.Hour), Publishes: true, Epoch: 7}
		m.Step(w.now, Heard{[]HeardStatement{{Statement: old}}})
		m.Step(w.now, Asked{Answers: 1, Settled: true, Epoch: 7})
	}
	if waited := w.now.Sub(began); m.state != Publishes || waited > 5*r {
		t.Errorf("state %d after %s", m.state, waited)
	}
}
