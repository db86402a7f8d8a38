package check

import "github.com/feedring/feedring/internal/sim/disk"

// calmEntries checks that an entry is soon at all members, once all is settled.
type calmEntries struct{ *record }

// Reached checks that members hold an entry that its publisher told of before.
func (c *calmEntries) Reached(l *disk.Log, e *disk.Entry, members []int32) {
	for _, p := range members {
		if c.cfg.Name(p) == l.Ref.Publisher || !c.cfg.Runs(p) || !e.Seen.After(c.cfg.Clock(p).Add(-c.cfg.Freshness)) {
			continue
		}
		c.Judge("entries soon")
		if c.cfg.Disk(p).Head(l).Position.Compare(e.Position) < 0 {
			c.Fail("calm", "%s has no %d/%d of %s, %v after it was published", c.cfg.Name(p), e.Position.Epoch, e.Position.Sequence, l.Ref.URL, c.cfg.Now()-e.Synced)
			return
		}
	}
}
