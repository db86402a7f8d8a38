package times_test

import (
	"testing"
	"time"

	"github.com/feedring/feedring/internal/times"
)

// Of equal instants the first is returned, with its zone: what is hashed or stored
// does not change with the order of events.
func TestTheFirstOfEqualTimesIsKept(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	after, same := noon.Add(1), noon.In(time.FixedZone("", 3600))
	for _, c := range []struct{ a, b, earlier, later time.Time }{
		{noon, after, noon, after},
		{after, noon, noon, after},
		{noon, same, noon, noon},
		{same, noon, same, same},
	} {
		if got := times.Earlier(c.a, c.b); got != c.earlier {
			t.Errorf("Earlier(%v, %v) = %v", c.a, c.b, got)
		}
		if got := times.Later(c.a, c.b); got != c.later {
			t.Errorf("Later(%v, %v) = %v", c.a, c.b, got)
		}
	}
}
