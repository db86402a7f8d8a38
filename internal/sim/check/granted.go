package check

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// granted is what a manager granted, as seen from outside.
type granted struct {
	period      int64 // of r by its clock
	now, before map[feedring.PeerID]int
	lastAt      map[feedring.PeerID]time.Duration // when a peer was last granted
	// unsure is when it was last not known from outside what the manager counts; 0: never.
	unsure time.Duration
	last   lastGrants
	told   []lookupOf // the last that it granted to other coordinators
}

// lookupOf names a lookup by the attempt of the client that it is for.
type lookupOf struct {
	id      feedring.QueryID
	attempt uint32
}

// grants returns what a manager granted in this period and the one before.
func (c *balance) grants(p int32, s *membership) *granted {
	g := &s.granted
	period := c.cfg.Clock(p).UnixNano() / int64(c.cfg.Refresh)
	if g.now == nil || period != g.period {
		g.before = g.now
		if period != g.period+1 {
			g.before = nil
		}
		g.now, g.period = map[feedring.PeerID]int{}, period
	}
	return g
}

func (g *granted) of(p feedring.PeerID) int { return g.now[p] + g.before[p] }

// add counts a grant.
func (g *granted) add(p feedring.PeerID, now time.Duration) {
	if g.lastAt == nil {
		g.lastAt = map[feedring.PeerID]time.Duration{}
	}
	g.now[p]++
	g.lastAt[p] = now
}

// ended reports whether the manager may still count grants to a peer that count no more
// here: a clock that was ahead runs slower for a while, and so do its periods.
func (g *granted) ended(p feedring.PeerID, now, r time.Duration) bool {
	at, ok := g.lastAt[p]
	return ok && g.of(p) == 0 && now-at < 4*r
}

// doubtful reports whether the manager may count something else.
func (g *granted) doubtful(now, r time.Duration) bool { return g.unsure > 0 && now-g.unsure < 4*r }

// refreshed: a secondary is told of grants, which count for it should it manage.
func (s *membership) refreshed(m group.Refresh, now time.Duration) {
	if slices.ContainsFunc(m.Loads, func(l group.Load) bool { return l.Granted > 0 }) {
		s.granted.unsure = now
	}
}

// lastGrants is the providers of the last grants for what they cache, the oldest first,
// and of each how many peers could serve.
type lastGrants []struct {
	to  feedring.PeerID
	may int
}

// most is how many of them a peer has.
func (l lastGrants) most(p feedring.PeerID) (n int) {
	for i := range l {
		if l[i].to == p {
			n++
		}
	}
	return n
}

// add counts one more grant of the last.
func (l *lastGrants) add(to feedring.PeerID, may int) {
	if len(*l) == group.Consecutive-1 {
		*l = slices.Delete(*l, 0, 1)
	}
	*l = append(*l, struct {
		to  feedring.PeerID
		may int
	}{to, may})
}

// coordinated counts what a manager granted to a question that it coordinated itself,
// as its final tells.
func (c *balance) coordinated(p int32, id feedring.QueryID, attempt uint32, grants []feedring.Grant) {
	for _, s := range c.peer(p).memberships {
		s.answered(id, attempt)
	}
	for i := range grants {
		g := &grants[i]
		s := c.peer(p).find(g.Theme.Group())
		if s != nil && !g.Own && s.role >= feedring.RoleSecondary && !slices.Contains(s.granted.told, lookupOf{id, attempt}) {
			s.granted.last.add(g.Provider.ID, 0)
		}
	}
}

// share checks T7: a peer that has its share of a manager's last grants is given no more
// while another one has room; the manager itself may be, while it serves nobody. What the
// manager grants to questions that it coordinates itself is seen with their finals only,
// so the order here is not its own, and a quarter more is allowed, two at least: shares of
// large groups are one or two.
func (c *balance) share(p int32, s *membership, m group.Placed, asked []wanted, tried map[feedring.PeerID]int) {
	if len(s.granted.told) == group.Consecutive {
		s.granted.told = slices.Delete(s.granted.told, 0, 1)
	}
	s.granted.told = append(s.granted.told, lookupOf{m.ID, m.Attempt})
	for i := range m.Grants {
		g := &m.Grants[i]
		if g.Own {
			continue
		}
		may := 0
		if tried != nil && len(asked) == 1 && len(m.Missing) == 0 && len(m.Copies) == 0 {
			may = c.within(p, s, g.Provider.ID, asked[0], tried)
		}
		s.granted.last.add(g.Provider.ID, may)
	}
}

// within judges one grant, and returns how many could serve; 0: that is not known.
func (c *balance) within(p int32, s *membership, to feedring.PeerID, asked wanted, tried map[feedring.PeerID]int) int {
	fit := able(asked, c.cfg.Name(p))
	if len(fit) == 0 || !slices.ContainsFunc(fit, func(m *group.Member) bool { return m.Row.Peer == to }) {
		return 0
	}
	share := group.Share(len(fit))
	for _, g := range s.granted.last { // it may have been more when the others were chosen
		if g.may > 0 {
			share = max(share, group.Share(g.may))
		}
	}
	if to == c.cfg.Name(p) {
		return len(fit)
	}
	c.Judge("share")
	share += max(share/4+1, 2)
	if s.granted.last.most(to) < share {
		return len(fit)
	}
	for _, m := range fit {
		if q := m.Row.Peer; q != to && q != c.cfg.Name(p) && tried[q] == 0 && s.granted.last.most(q) < share/2 {
			c.Fail("T7", "%s grants %s one more, which has %d of the last %d, and not %s, which has %d", c.cfg.Name(p), to,
				s.granted.last.most(to), len(s.granted.last), q, s.granted.last.most(q))
		}
	}
	return len(fit)
}
