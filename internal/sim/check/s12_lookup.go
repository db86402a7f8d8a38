package check

import (
	"maps"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// s12Lookup checks that a lookup asks each peer for room once (S12).
type s12Lookup struct {
	*record
	open map[seeking]sought
}

// seeking names a lookup at the peer that does it.
type seeking struct {
	at      int32
	group   feedring.GroupID
	id      feedring.QueryID
	attempt uint32
}

// sought is whom a lookup asked for room. asked is nil where it is not known
// when the lookup began: it was for the peer itself.
type sought struct {
	asked map[feedring.PeerID]int // how often
	last  time.Duration
}

// seeks notes that another peer asks for a lookup. While one is under way, that
// asks for nothing new.
func (c *s12Lookup) seeks(p int32, m group.Place) {
	key := seeking{p, m.Header.Group, m.ID, m.Attempt}
	if was, known := c.open[key]; !known || c.cfg.Now()-was.last > lookupTime {
		c.open[key] = sought{map[feedring.PeerID]int{}, c.cfg.Now()}
	}
	if len(c.open) > 4096 {
		clear(c.open)
	}
}

// assigns checks that a lookup asks each peer once (S12).
func (c *s12Lookup) assigns(p int32, to feedring.PeerID, m group.Assign) {
	key := seeking{p, m.Header.Group, m.ID, m.Attempt}
	s := c.open[key]
	if s.asked[to] > 0 {
		c.Fail("S12", "%s asks %s for room again for one lookup", c.cfg.Name(p), to)
	}
	if s.asked != nil {
		s.asked[to]++
	}
	c.open[key] = sought{s.asked, c.cfg.Now()}
}

// sought ends a lookup.
func (c *s12Lookup) sought(p int32, m group.Placed) {
	c.open[seeking{p, m.Header.Group, m.ID, m.Attempt}] = sought{nil, c.cfg.Now()}
}

// answers ends the lookups of a question that a peer answers itself: who asks it for the same
// afterwards begins another one.
func (c *s12Lookup) answers(p int32, f *feedring.Final) {
	for _, g := range f.Grants {
		key := seeking{p, g.Theme.Group(), f.ID, f.Attempt}
		if _, known := c.open[key]; known {
			c.open[key] = sought{nil, c.cfg.Now()}
		}
	}
}

// refused forgets a lookup that goes to another peer.
func (c *s12Lookup) refused(p int32, m group.Place) {
	delete(c.open, seeking{p, m.Group, m.ID, m.Attempt})
}

// forget drops what a peer looks up.
func (c *s12Lookup) forget(p int32) {
	maps.DeleteFunc(c.open, func(k seeking, _ sought) bool { return k.at == p })
}
