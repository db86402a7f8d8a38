package check

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring"
)

// s7 checks that a peer tests an attempt once for a group, and that a search
// stays within its hops and its arc.
type s7 struct {
	*record
	first  map[int32]firstHop
	found  map[foundKey]bool
	themes []feedring.Theme // of the first logs
	logs   int              // how many these are
}

func (c *s7) search(p int32, s ring.Search) {
	name := c.cfg.Name(p)
	switch {
	case s.Hop > s.HopLimit, s.HopLimit > 2*c.countThemes()+8, len(s.Visited) > s.Hop, len(s.Serving) > len(s.Visited):
		c.Fail("S7", "%s sends a search of hop %d of %d, visited %d, serving %d", name, s.Hop, s.HopLimit, len(s.Visited), len(s.Serving))
	case slices.Contains(s.Visited, s.Group):
		c.Fail("S7", "%s sends a search to a group that it visited", name)
	case s.Direction == ring.Successor && !within(s.Origin, s.Group, s.End, true), s.Direction == ring.Predecessor && !within(s.End, s.Group, s.Origin, false):
		c.Fail("S7", "%s sends a search out of its arc", name)
	}
}

// exhausted checks that the peer that ends an arc knows of no group farther on it. A
// peer that passed the search on, and skipped one that does not answer, may end the arc
// when the same search comes again.
func (c *s7) exhausted(p int32, m ring.Exhausted) {
	s, ok := c.peer(p).given.Message.(ring.Search)
	if !ok || s.Direction != m.Direction || s.Direction == ring.Direct || s.ID != m.ID || s.Attempt != m.Attempt || s.Hop >= s.HopLimit || m.Hop > s.Hop {
		return
	}
	for _, r := range c.cfg.Ring(p) {
		g := r.Group
		if slices.Contains(m.Visited, g) {
			continue // by this peer itself, which has an entry there too
		}
		if s.Direction == ring.Successor && g != s.Group && within(s.Group, g, s.End, true) && s.Group != s.End ||
			s.Direction == ring.Predecessor && within(s.End, g, s.Group, false) && g != s.End {
			c.Fail("S7", "%s ends an arc before %s", c.cfg.Name(p), r.Theme)
		}
	}
}

// foundKey names a FOUND of one attempt for one group.
type foundKey struct {
	at        int32
	life      uint32
	id        feedring.QueryID
	number    uint32
	group     feedring.GroupID
	direction ring.Direction
}

// finds checks that a group is found once for an attempt.
func (c *s7) finds(p int32, m ring.FoundGroup) {
	key := foundKey{p, c.peer(p).life, m.ID, m.Attempt, m.Group, m.Direction}
	if c.found[key] && m.Direction != ring.Direct {
		c.Fail("S7", "%s finds its group a second time for attempt %d", c.cfg.Name(p), m.Attempt)
	}
	c.found[key] = true
}

// countThemes returns how many themes there are feeds of, so how many groups at most.
func (c *s7) countThemes() int {
	logs := c.cfg.Logs()
	for _, l := range logs[c.logs:] {
		if !slices.Contains(c.themes, l.Theme) {
			c.themes = append(c.themes, l.Theme)
		}
	}
	c.logs = len(logs)
	return len(c.themes)
}

// within reports whether g lies on the way from one group to another, neither
// counted unless last.
func within(from, g, to feedring.GroupID, last bool) bool {
	if g == to {
		return last
	}
	after, before := g.Compare(from) > 0, g.Compare(to) < 0
	if from.Compare(to) < 0 {
		return after && before
	}
	return after || before
}

// firstHop is the first message of an arc, as its coordinator sent it.
type firstHop struct {
	search ring.Search
	at     time.Duration
}

// firstHops checks that the two arcs of a search part the ring: they end at the
// same group, which the successors' has, and C is the same for an odd ring, and
// one less on the way back for an even one (S7).
func (c *s7) firstHops(p int32, s ring.Search) {
	if s.Hop != 1 || s.Direction == ring.Direct || s.Coordinator != c.cfg.Name(p) {
		return
	}
	was, some := c.first[p]
	c.first[p] = firstHop{s, c.cfg.Now()}
	other := was.search
	if !some || was.at != c.cfg.Now() || other.ID != s.ID || other.Attempt != s.Attempt || other.Direction == s.Direction {
		return
	}
	if s.Direction == ring.Successor {
		s, other = other, s
	}
	if s.End != other.End || other.C-s.C != 0 && other.C-s.C != 1 {
		c.Fail("S7", "%s searches with arcs that do not part the ring: C = %d and %d", c.cfg.Name(p), other.C, s.C)
	}
}

// hopping names one arc as a peer passes it on.
type hopping struct {
	id        feedring.QueryID
	attempt   uint32
	direction ring.Direction
}

// waiting is a hop that was not acknowledged yet.
type waiting struct {
	of    hopping
	since time.Duration
}

const hopPatience = 500 * time.Millisecond

// hops notes a search that a peer passes on. Coordinators ask for missing groups
// themselves, and a peer of several groups may pass a search to itself, so neither is
// noted.
func (c *s7) hops(p int32, s ring.Search) {
	o, of := c.peer(p), hopping{s.ID, s.Attempt, s.Direction}
	o.hopped(of)
	if s.Coordinator != c.cfg.Name(p) && s.Direction != ring.Direct && s.Within > 2*hopPatience && o.groups() == 1 {
		o.hops = append(o.hops, waiting{of, c.cfg.Now()})
	}
}

// hopped ends the wait for a hop.
func (o *peerRecord) hopped(of hopping) {
	o.hops = slices.DeleteFunc(o.hops, func(h waiting) bool { return h.of == of })
}

// groups is how many groups a peer is a member of.
func (o *peerRecord) groups() (n int) {
	for _, s := range o.memberships {
		if s.role != feedring.RoleNone {
			n++
		}
	}
	return n
}

// reroutes checks that a peer goes on with what was not acknowledged in time
// (S7).
func (c *s7) reroutes(p int32, o *peerRecord) {
	for len(o.hops) > 0 && c.cfg.Now()-o.hops[0].since >= 2*hopPatience {
		since := o.hops[0].since
		o.hops = slices.Delete(o.hops, 0, 1)
		if c.cfg.Steady(p, since-time.Second) {
			c.Fail("S7", "%s does not go on with a search that was not acknowledged", c.cfg.Name(p))
		}
	}
}
