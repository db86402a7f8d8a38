package check

import (
	"time"

	"github.com/feedring/feedring/internal/times"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// calmAlternates checks that a grant names as many alternates as may serve, once
// all is settled.
type calmAlternates struct{ *record }

// mostAlternates is how many a grant names.
const mostAlternates = 3

// fewAlternates checks that a grant names as many alternates as may serve, once all is
// settled: members that are there and lack nothing of what is asked for, both when the
// lookup came and now. A lookup that came again meanwhile is left out: it is planned
// with what was known at either time.
func (c *calmAlternates) fewAlternates(p int32, theme feedring.Theme, m group.Placed, g *feedring.Grant, asked []wanted) {
	if c.settled == 0 || len(m.Missing) > 0 || len(m.Copies) > 0 || len(asked) != 1 || asked[0].view == nil {
		return
	}
	want, now := asked[0], c.cfg.Membership(p, theme)
	if now == nil {
		return
	}
	feeds := want.view.Feeds(want.provider)
	mark := want.at.Add(-want.kept)
	if !g.Own {
		mark = times.Later(mark, want.since)
	}
	others := 0
	for i := range want.view.Members {
		o := &want.view.Members[i]
		row := o.Row.Peer
		if row != g.Provider.ID && !o.Away && serves(o.Row, row == want.view.Self, feeds, mark) && serves(rowIn(now, row), row == want.view.Self, feeds, mark) {
			others++
		}
	}
	c.Judge("enough alternates")
	if n := min(mostAlternates, others); len(g.Alternates) < n {
		c.Fail("calm", "%s names %d alternates of %s, and %d others may serve", c.cfg.Name(p), len(g.Alternates), g.Provider.ID, others)
	}
}

// serves reports whether a member may serve all of feeds since a mark, by its row.
func serves(r *group.Row, self bool, feeds []feedring.FeedRef, mark time.Time) bool {
	return r != nil && !r.Left && (self || !r.Admitted.IsZero()) && !r.From.After(mark) &&
		!r.Lacks(func(ref feedring.FeedRef) bool { return concerns(ref, feeds) })
}
