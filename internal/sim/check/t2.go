package check

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// t2 checks that nobody tells the row of a peer that no manager of the group ever heard
// answer.
type t2 struct {
	*record
	answered map[groupMember]bool
}

type groupMember struct {
	group feedring.GroupID
	peer  feedring.PeerID
}

// answers notes that a peer answers a manager, or manages.
func (c *t2) answers(p int32, g feedring.GroupID) {
	c.answered[groupMember{g, c.cfg.Name(p)}] = true
}

func (c *t2) tells(p int32, to feedring.PeerID, rows []*group.Row) {
	for _, r := range rows {
		if r.Peer != to && r.Peer != c.cfg.Name(p) && !c.answered[groupMember{r.Group, r.Peer}] {
			c.Fail("T2", "%s tells %s the row of %s, which no manager ever heard answer", c.cfg.Name(p), to, r.Peer)
		}
	}
}
