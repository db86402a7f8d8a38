package sim

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// usurp has a member say to all others of its group, again and again, that its higher claim is
// acknowledged. Nobody follows it who hears the manager, and that one stays and leads above it (T11).
func (s *scenario) usurp() {
	s.Run(formed)
	theme, r := s.themes[s.random.IntN(len(s.themes))], s.cfg.Peer.Refresh
	manager := s.who(theme, feedring.RoleManager)
	others := slices.DeleteFunc(s.members(theme), func(n *node) bool { return n == manager })
	i := slices.IndexFunc(others, func(n *node) bool { return n.up && n.role(theme.Group()) == feedring.RolePeer })
	if manager == nil || i < 0 || len(others) < 3 {
		return
	}
	usurper := others[i]
	s.trouble(usurper)
	s.crash(usurper)
	s.mends = append(s.mends, func() { s.revive(usurper) })
	for range 40 {
		s.Run(s.now + r/5)
		number := uint64(0)
		for _, n := range s.members(theme) {
			v := n.machine.Membership(theme)
			if !n.up || n == usurper || v == nil {
				continue
			}
			if v.Manager == usurper.id || n == manager && v.Role != feedring.RoleManager {
				s.witness.Fail("T11", "%s follows %s, for the word of %s alone", n.id, v.Manager, usurper.id)
				return
			}
			number = max(number, v.Term.Number)
		}
		term := feedring.Term{Number: number + 1, Claimant: usurper.id}
		claim := group.Claim{Group: theme.Group(), Term: term}
		for _, n := range s.members(theme) {
			if n != usurper && n.up {
				s.queue.put(s.network.arrives(usurper.index, n.index, s.now), event{to: n.index, from: usurper.index, life: n.life, message: group.Beacon{
					Header: group.Header{Group: claim.Group, Term: term}, Claim: claim, Number: 1 << 30, Acknowledged: 1000,
				}})
			}
		}
	}
	s.Run(s.now + 2*r)
	if v := manager.machine.Membership(theme); v == nil || v.Role != feedring.RoleManager || !v.Acknowledged {
		s.witness.Fail("T11", "%s does not lead above %s", manager.id, usurper.id)
	}
}
