package group

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/view"
)

// What others may read of a membership.
type (
	View    = view.View    // is a snapshot of it
	Member  = view.Member  // is one peer in a View
	Summary = view.Summary // is what a View shows of a group in numbers
	Lead    = view.Lead    // is the manager and the secondary, as a View tells them
)

// views is the last snapshots, which stay the same ones until something changes.
type views struct {
	view       *View     `state:"derived"` // last, in this step; nil: it may be another
	last       *View     `state:"derived"` // as of key; nil: none since
	summary    *Summary  `state:"derived"` // the same
	key        viewKey   `state:"derived"`
	validUntil time.Time `state:"derived"` // when the first leaves last who is away; zero: nobody
}

// forget forgets the snapshots.
func (v *views) forget() { v.view, v.last, v.summary = nil, nil, nil }

// viewKey is all that a View is made of, in so far as it can be compared quickly: most steps change nothing that a View
// shows, and making one costs a walk over the group.
type viewKey struct {
	role      feedring.Role
	term      feedring.Term
	secondary feedring.PeerID
	acked     bool
	settled   bool
	leases    int
	changes   uint64
	index     *catalogue.Index
}

func (m *Machine) viewKey() viewKey {
	return viewKey{
		role: m.roleNow(), term: m.lead.claim.Term, secondary: m.lead.secondary,
		acked:   m.acknowledgedNow(),
		settled: m.manager() != "" && (m.lead.serving || m.live()) && !m.me().row.Admitted.IsZero(),
		leases:  m.placer.Leases(), changes: m.changes, index: m.index(),
	}
}

// View returns the present snapshot, the same one until something changes.
func (m *Machine) View() *View {
	if m.views.view != nil {
		return m.views.view
	}
	if m.dropStaleViews(); m.views.last == nil {
		m.views.last = m.makeView(m.views.key)
	}
	m.views.view = m.views.last
	return m.views.view
}

// dropStaleViews forgets the snapshots if they are not so any more. A member that is away leaves them with time.
func (m *Machine) dropStaleViews() {
	g := m.viewKey()
	if m.views.key == g && (m.views.validUntil.IsZero() || m.now.Before(m.views.validUntil)) {
		return
	}
	m.views.last, m.views.summary = nil, nil
	m.views.key, m.views.validUntil = g, time.Time{}
	if g.index.Away == 0 {
		return
	}
	for _, p := range g.index.Others {
		mem := m.members[p]
		if end := mem.since.Add(m.cfg.Refresh); mem.away && m.now.Before(end) && (m.views.validUntil.IsZero() || end.Before(m.views.validUntil)) {
			m.views.validUntil = end
		}
	}
}

func (m *Machine) makeView(g viewKey) *View {
	b := g.index
	v := &View{
		Theme: m.cfg.Theme, Group: m.group, Self: m.cfg.Self, Role: g.role,
		Term: g.term, Manager: m.manager(), Secondary: g.secondary,
		Acknowledged: g.acked, Settled: g.settled, Leases: g.leases, Members: make([]Member, 0, len(b.Others)+1),
	}
	v.Publish(b.Feeds, m.vouched())
	own, placed := m.me().row, false
	for _, p := range b.Others {
		mem := m.members[p]
		if !placed && catalogue.CompareRank(own, mem.row) < 0 {
			v.Members, placed = append(v.Members, m.viewOf(m.cfg.Self)), true
		}
		if mem.away {
			v.Away = append(v.Away, p)
		}
		if m.shows(mem) {
			v.Members = append(v.Members, m.viewOf(p))
		}
	}
	if !placed {
		v.Members = append(v.Members, m.viewOf(m.cfg.Self))
	}
	return v
}

func (m *Machine) viewOf(p feedring.PeerID) Member {
	mem := m.members[p]
	v := Member{Row: mem.row, Role: feedring.RolePeer, Away: mem.away}
	v.Leases, v.Known = m.loadOf(p)
	if p == m.cfg.Self {
		v.Leases, v.Known = m.placer.Leases(), true
	}
	switch p {
	case m.manager():
		v.Role = feedring.RoleManager
	case m.lead.secondary:
		v.Role = feedring.RoleSecondary
	}
	return v
}

// Serves reports whether a feed of the catalogue, be its publisher away or
// not, has that provider; the empty string asks for any feed.
func (m *Machine) Serves(provider string) bool { return len(m.matches(provider)) > 0 }

// Heads lists what is held of the group's feeds, in order. The list must not be
// changed. It is no part of a View, since heads move far more often.
func (m *Machine) Heads() []feedring.Head { return m.replicator.All() }
