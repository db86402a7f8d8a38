package group

import "github.com/feedring/feedring"

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
