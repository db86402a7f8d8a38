package check

import (
	"time"

	"github.com/feedring/feedring/internal/times"

	"github.com/feedring/feedring"
)

// calmMarks checks that nobody promises less than it has, once all is settled.
type calmMarks struct{ *record }

// Marks checks that nobody promises less than it has: that each member's mark is as far
// back as entries are fresh, once all has been settled for a period. Whoever is asked
// for more passes a member by whose mark is later, though it has everything. What
// justifies a later mark is:
//   - something that its row names as being fetched, since the mark goes back after that;
//   - that copies were dropped up to a later date, by a clock that was ahead then, here or
//     where they were polled: the disk knows it, whoever's clock it was;
//   - that it is rounded up to whole seconds.
//
// A clock that was set needs no other excuse: when the faults end its peer starts again, and
// marks anew, by the clock that it has then.
func (c *calmMarks) Marks(theme feedring.Theme, members []int32) {
	if c.settled == 0 || c.cfg.Now() < c.settled+c.cfg.Refresh {
		return
	}
	for _, p := range members {
		row := rowIn(c.cfg.Membership(p, theme), c.cfg.Name(p))
		if !c.cfg.Runs(p) || row == nil || row.Left || row.Admitted.IsZero() || len(row.Backfilling) > 0 {
			continue
		}
		c.Judge("marks far back")
		back := times.Later(c.cfg.Clock(p).Add(-c.cfg.Freshness), c.cfg.Disk(p).DroppedTo(theme))
		if row.From.After(back.Add(time.Second)) {
			c.Fail("calm", "%s promises what came after %v, lacks nothing and could from %v on, long after all faults",
				row.Peer, row.From.Format(time.TimeOnly), back.Format(time.TimeOnly))
			return
		}
	}
}
