package check

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// ticket checks tickets (docs/protocol.md 9, 11).
type ticket struct{ *record }

// grant checks what a grant is signed for (docs/protocol.md 9, Tickets).
func (c *ticket) grant(p int32, g *feedring.Grant, now time.Time) {
	most := max(10*c.cfg.Refresh, time.Hour)
	switch t := &g.Ticket; {
	case t.Expiry.IsZero(), t.Expiry.After(now.Add(most)), !t.Expiry.After(now):
		c.Fail("ticket", "%s gives a ticket that holds until %v", c.cfg.Name(p), t.Expiry)
	case len(g.Alternates) > 3, len(t.Peers) != 1+len(g.Alternates), t.Peers[0] != g.Provider.ID, t.Client == "":
		c.Fail("ticket", "%s gives a ticket for %v and names %v", c.cfg.Name(p), t.Peers, g.Provider.ID)
	}
}

// alternates checks that all whom a grant names are on its ticket, each once.
func (c *ticket) alternates(p int32, g *feedring.Grant) bool {
	for i, a := range g.Alternates {
		if i+1 >= len(g.Ticket.Peers) || g.Ticket.Peers[i+1] != a.ID || slices.Contains(g.Ticket.Peers[:i+1], a.ID) {
			c.Fail("ticket", "%s names the alternates %v on a ticket for %v", c.cfg.Name(p), g.Alternates, g.Ticket.Peers)
			return false
		}
	}
	return true
}

// admits checks that nobody is served on a ticket that has expired
// (docs/protocol.md 11).
func (c *ticket) admits(p int32, o *peerRecord) {
	if a, ok := o.input.Input.(group.Attach); ok && !a.Ticket.Expiry.After(c.cfg.Clock(p)) {
		c.Fail("ticket", "%s serves %s on a ticket that held until %v", c.cfg.Name(p), a.Ticket.Client, a.Ticket.Expiry)
	}
}
