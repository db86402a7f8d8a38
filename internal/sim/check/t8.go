package check

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// t8 checks that no peer leaves a feed to another whose site names it, as it found itself.
type t8 struct{ *record }

// looked notes what a peer found at the site of one of its own feeds.
func (c *t8) looked(p int32, g feedring.GroupID, in group.Checked) {
	if in.Feed.Publisher != c.cfg.Name(p) || in.Unknown {
		return
	}
	s := c.peer(p).membership(g)
	if s.own == nil {
		s.own = map[string]bool{}
	}
	s.own[in.Feed.URL] = in.Vouched
}

// turns looks at who fetches a feed, as a machine says.
func (c *t8) turns(p int32, out group.FetchAssignment) {
	if !c.peer(p).membership(out.Group).own[out.URL] {
		return
	}
	c.Judge("T8")
	if out.Slot == 0 || out.Slots != 1 {
		c.Fail("T8", "%s has turn %d of %d at its own feed %s, where %s fetches", c.cfg.Name(p), out.Slot, out.Slots, out.URL, out.By)
	}
}
