package group

import "github.com/feedring/feedring"

// Standing returns the role and the term of the View, without making one.
func (m *Machine) Standing() (feedring.Role, feedring.Term) { return m.roleNow(), m.lead.claim.Term }

// Lead is who leads the group, as a View tells it.
type Lead struct {
	Term               feedring.Term // followed; zero where the peer is in no group yet
	Manager, Secondary feedring.PeerID
	Acknowledged       bool // another peer follows the term
}

// Lead returns that of the View, without making one.
func (m *Machine) Lead() Lead {
	return Lead{Term: m.lead.claim.Term, Manager: m.manager(), Secondary: m.lead.secondary, Acknowledged: m.acknowledgedNow()}
}

func (m *Machine) acknowledgedNow() bool { return !m.serving && m.manager() != "" || m.acked }

// Has reports whether the View shows p as a member that is there.
func (m *Machine) Has(p feedring.PeerID) bool {
	mem := m.members[p]
	return mem != nil && (p == m.cfg.Self || !mem.row.Left && m.showsStill(mem))
}

// showsStill: who is away leaves the View with time.
func (m *Machine) showsStill(mem *member) bool {
	return !mem.away || m.now.Sub(mem.since) < m.cfg.Refresh
}
