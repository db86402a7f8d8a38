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

// Summary counts the present View without making one, which costs much more: the
// same one until something changes.
func (m *Machine) Summary() *Summary {
	if m.dropStaleViews(); m.views.summary == nil {
		m.views.summary = m.summarize()
	}
	return m.views.summary
}

func (m *Machine) summarize() *Summary {
	c := &Summary{Lead: m.Lead(), Peers: 1, Feeds: len(m.me().row.Feeds), Clients: m.placer.Leases()}
	if c.Secondary == m.cfg.Self {
		c.Addrs = m.me().row.Addrs
	}
	for _, p := range m.everybody() {
		mem := m.members[p]
		if !m.shows(mem) {
			continue
		}
		c.Peers++
		c.Feeds += len(mem.row.Feeds)
		if clients, known := m.loadOf(p); known {
			c.Clients += clients
		}
		if p == c.Secondary {
			c.Addrs = mem.row.Addrs
		}
	}
	return c
}

// loadOf returns how many clients a member has, as it told, and whether this peer is told.
func (m *Machine) loadOf(p feedring.PeerID) (clients int, known bool) {
	clients, known = m.placer.Told(p)
	return clients, known && (m.lead.serving || m.lead.secondary == m.cfg.Self)
}
