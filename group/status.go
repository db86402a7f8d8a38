package group

import "github.com/feedring/feedring"

// Status returns the role and the term of the View, without making one.
func (m *Machine) Status() (feedring.Role, feedring.Term) { return m.roleNow(), m.lead.claim.Term }

// Lead returns that of the View, without making one.
func (m *Machine) Lead() Lead {
	return Lead{Term: m.lead.claim.Term, Manager: m.manager(), Secondary: m.lead.secondary, Acknowledged: m.acknowledgedNow()}
}

func (m *Machine) acknowledgedNow() bool { return !m.lead.serving && m.manager() != "" || m.lead.acked }

// authoritativePeriods is how long a peer that starts again, or founds a group anew, waits
// to hear of its former members.
const authoritativePeriods = 3

// Authoritative reports whether the group has nothing but what this peer knows of, as far
// as anybody can say. A peer that was in a group with others and starts again knows only
// itself and members that have just come back, while another may manage the rest.
func (m *Machine) Authoritative() bool {
	long := authoritativePeriods * m.cfg.Refresh
	switch {
	case m.rejoined && m.now.Sub(m.me().first) < long:
		return false
	case m.lead.serving && !m.lead.acked && !m.disk.Term.IsZero():
		return m.now.Sub(m.lead.since) >= long
	}
	return true
}

// Has reports whether the View shows p as a member that is there.
func (m *Machine) Has(p feedring.PeerID) bool {
	mem := m.members[p]
	return mem != nil && (p == m.cfg.Self || !mem.row.Left && m.shows(mem))
}

// shows: a member that is away leaves the View with time.
func (m *Machine) shows(mem *member) bool {
	return !mem.away || m.now.Sub(mem.since) < m.cfg.Refresh
}
