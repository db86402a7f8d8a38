package check

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring"
)

// t10 checks that nobody tells of a live group whose manager it never heard, unless it has
// somebody's word whom it believes: a manager that it follows, anybody while it has no
// map, and a group's manager for its secondary.
type t10 struct {
	*record
	known []map[feedring.PeerID]bool // by peer: of whom it may tell
}

func (c *t10) of(p int32) map[feedring.PeerID]bool {
	for int(p) >= len(c.known) {
		c.known = append(c.known, map[feedring.PeerID]bool{})
	}
	return c.known[p]
}

// forget forgets what an earlier life heard.
func (c *t10) forget(p int32) { clear(c.of(p)) }

// hears notes who speaks, and of whom it is believed.
func (c *t10) hears(p int32, from feedring.PeerID, m feedring.Message) {
	known := c.of(p)
	if !known[from] {
		known[from] = true
	}
	rows, is := m.(ring.Rows)
	if !is || len(rows.Rows) == 0 {
		return
	}
	believed := c.believes(p, from)
	for _, r := range rows.Rows {
		if known[r.Secondary] = true; believed {
			known[r.Term.Claimant] = true
		}
	}
}

// believes reports whether a peer takes the word of another: it follows that one, or has
// no map.
func (c *t10) believes(p int32, other feedring.PeerID) bool {
	m := c.cfg.Machine(p)
	if !m.Synced() {
		return true
	}
	for _, v := range m.View().Memberships {
		if v.Role != feedring.RoleNone && v.Manager == other {
			return true
		}
	}
	return false
}

func (c *t10) tells(p int32, m ring.Rows) {
	if len(m.Rows) == 0 {
		return
	}
	lost := map[ring.RowVersion]bool{}
	for _, l := range m.Lost {
		lost[ring.RowVersion{Group: l.Group, Term: l.Term, Version: l.Version}] = true
	}
	for _, r := range m.Rows {
		claimant := r.Term.Claimant
		if r.Gone || claimant == c.cfg.Name(p) || lost[ring.RowVersion{Group: r.Group, Term: r.Term, Version: r.Version}] {
			continue
		}
		c.Judge("groups told of")
		if !c.of(p)[claimant] {
			c.Fail("T10", "%s tells that %s manages %s, whom it never heard", c.cfg.Name(p), claimant, r.Theme)
		}
	}
}
