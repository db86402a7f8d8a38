package sim

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring"
)

// crashGroup has nobody left of a group: for so long, sometimes, that its ring
// neighbours give it up; and sometimes those that come back remember nothing.
func (s *scenario) crashGroup() {
	theme := s.anyTheme()
	end, empty := s.between(50*time.Millisecond, 90*time.Second), s.often(3)
	down := map[*node]uint32{} // … in which life
	managers := 0
	for _, n := range s.members(theme) {
		if !n.up {
			continue
		}
		down[n] = n.life
		if at := n.in(theme.Group()); at != nil && at.role == feedring.RoleManager {
			managers++
		}
		s.trouble(n)
		s.crash(n)
		if empty {
			s.lose(n)
			s.orphan()
		}
		s.mend(end, end+5*time.Second, func() { s.revive(n) })
	}
	// Of two managers, of halves that were cut off, the other is watched once one is
	// marked.
	until := mourning * time.Duration(max(managers, 1))
	s.after(until, func() { s.mourned(theme, down, s.now-until) })
}

// mourning is by when a manager that is gone is marked lost: 3r of silence, a round
// of exchanges before they begin and three tries, and until all have heard.
const mourning = 60 * time.Second

// mourned checks that nobody shows a group any more of which nobody was left
// (L6), where nothing but that went wrong meanwhile. Somebody who came back in
// between, and is down again, was there.
func (s *scenario) mourned(theme feedring.Theme, down map[*node]uint32, since time.Duration) {
	if s.healed || slices.ContainsFunc(s.members(theme), func(n *node) bool { return n.up || down[n] != n.life }) {
		return
	}
	g := theme.Group()
	var leaders []*node
	for _, n := range s.running() {
		if n.steady(since-10*time.Second) && slices.ContainsFunc(n.standing, func(at standing) bool {
			return at.group != g && at.role == feedring.RoleManager
		}) {
			leaders = append(leaders, n)
		}
	}
	for _, a := range leaders {
		for _, b := range leaders {
			if a != b && !s.network.sound(a.index, b.index, since) {
				return
			}
		}
	}
	if len(leaders) < len(s.inhabited())-1 || len(leaders) == 1 {
		return // somebody else of the ring is away as well, or who is left hears nobody, and doubts itself first
	}
	s.witness.Judge("L6 of a group that is gone")
	for _, n := range leaders {
		if slices.ContainsFunc(n.machine.Live(), func(r *ring.Row) bool { return r.Theme == theme }) {
			s.witness.Fail("L6", "%s shows %s on its map, of which nobody was there for %v", n.id, theme, s.now-since)
		}
	}
}
