package sim

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
)

// abandon has the only mirrors of feeds crash, leave in good order and take their feeds out, while readers of the group
// volunteer. What nobody offers any more is carried by two of them, until who offered it is back.
func (s *scenario) abandon() {
	theme := s.themes[0]
	var owners []*node
	for range 5 {
		n := s.settler(theme)
		s.publish(n, theme, siteName(int(n.index)), s.between(15*time.Second, 30*time.Second))
		owners = append(owners, n)
	}
	crashes, leaves, named, takesOut, comesBack := owners[0], owners[1], owners[2], owners[3], owners[4]
	s.feedOf(named).origin.names = named.id
	for range 3 {
		s.settler(theme).reads = []feedring.Theme{theme}
	}
	s.Run(formed)
	for end := s.now + formed; s.held(theme, owners) != "" && s.now < end; {
		s.Run(s.now + time.Second)
	}
	if why := s.held(theme, owners); why != "" || s.Violation() != nil {
		s.tracef("nothing to carry: %s", why)
		return
	}
	r, orphans, taken := s.cfg.Peer.Refresh, []string{}, []string{}
	for _, n := range []*node{crashes, leaves, comesBack} {
		orphans = append(orphans, s.feedOf(n).origin.url)
	}
	for _, n := range []*node{named, takesOut} {
		taken = append(taken, s.feedOf(n).origin.url)
	}
	for _, n := range owners {
		s.trouble(n)
	}
	vouched := slices.ContainsFunc(named.machine.Membership(theme).Members, func(m group.Member) bool {
		return m.Row.Peer == named.id && len(m.Row.Vouches) > 0
	})
	crashes.gone = true
	s.crash(crashes)
	s.crash(comesBack)
	for _, n := range []*node{leaves, named} {
		n.gone, n.left = true, true
		s.step(n, peer.Depart{})
		s.mend(5*time.Second, 5*time.Second, func() { s.crash(n) })
	}
	s.offerNothing(takesOut)
	s.mends = append(s.mends, func() { s.offerAgain(takesOut) }, func() { s.revive(comesBack) })
	s.Run(s.now + 14*r)
	s.orphan()
	s.witness.Carried(theme, orphans, 2)
	s.Run(s.now + 12*r)
	s.witness.Carried(theme, orphans, 2)
	if !vouched {
		taken = taken[1:]
	}
	s.witness.Carried(theme, taken, 0)
	s.revive(comesBack)
	s.Run(s.now + 14*r)
	s.witness.Carried(theme, orphans[:2], 2)
	s.witness.Carried(theme, orphans[2:], 0)
}

// settler adds a node to a theme that is there from the beginning.
func (s *scenario) settler(theme feedring.Theme) *node {
	n := s.addNode(s.anyClock(), 0, int32(s.random.IntN(s.settlers)))
	s.nodes, s.homes, s.sites = append(s.nodes, n), append(s.homes, slices.Index(s.themes, theme)), append(s.sites, siteName(int(n.index)))
	s.after(s.between(0, warm), func() { s.begin(n) })
	return n
}

// feedOf is the first feed that a node publishes.
func (s *scenario) feedOf(n *node) *feed {
	return s.feeds[slices.IndexFunc(s.feeds, func(f *feed) bool { return f.node == n })]
}

// held checks that all who read a theme hold something of each node's feed: what was never published is not carried.
func (s *scenario) held(theme feedring.Theme, owners []*node) string {
	for _, n := range owners {
		f := s.feedOf(n)
		for _, reader := range s.members(theme) {
			if len(reader.reads) > 0 && reader.disk.Head(f.log).Position.IsZero() {
				return string(reader.id) + " holds nothing of " + f.origin.url
			}
		}
	}
	return ""
}
