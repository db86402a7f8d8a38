package check

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/sim/disk"
)

// l2 checks that members have equal heads.
type l2 struct{ *record }

// Level checks L2: all members hold every fresh entry that was on its publisher's disk
// at a time. Later entries still have time.
func (c *l2) Level(theme feedring.Theme, members []int32, then time.Duration) (why string) {
	for _, l := range c.cfg.Logs() {
		if l.Theme != theme || l.Ended {
			continue
		}
		owner := c.cfg.Index(l.Ref.Publisher)
		if !c.cfg.Runs(owner) {
			continue
		}
		head := newest(l, then)
		if head == nil {
			continue
		}
		for _, p := range members {
			has := c.cfg.Disk(p).Head(l)
			if has.Position.Compare(head.Position) < 0 && head.Seen.After(c.cfg.Clock(p).Add(-c.cfg.Freshness)) {
				return string(c.cfg.Name(p)) + " is behind in " + l.Ref.URL
			}
		}
	}
	return ""
}

// newest returns the last entry of a log that was on its publisher's disk at a
// time, and still is; nil: there is none.
func newest(l *disk.Log, then time.Duration) *disk.Entry {
	for i := len(l.Entries) - 1; i >= 0; i-- {
		if e := l.Entries[i]; !e.Lost && e.Synced <= then {
			return e
		}
	}
	return nil
}
