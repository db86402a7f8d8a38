package group

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/internal/gossip"
)

// mesh is the neighbourhood of this peer in a large group.
type mesh struct {
	peers    []feedring.PeerID `state:"derived"` // nil: to be made
	joined   bool              `state:"derived"` // links is of peers
	links    *gossip.Links     // nil until the group is large
	laid     *gossip.Mesh      `state:"derived"` // see layout; nil: to be made
	reported bool              // the driver holds an order of neighbours
}

// forget forgets who the neighbours are.
func (n *mesh) forget() { n.peers, n.joined = nil, false }

// neighbours lists the peers to send beacons to, and those among which notifies
// spread, in order of rank: all that are there, or 8 to 10 of them in a large
// group.
func (m *Machine) neighbours() []feedring.PeerID {
	if !m.large() {
		return m.present()
	}
	if m.mesh.peers == nil {
		m.mesh.peers = catalogue.Mesh(m.cfg.Self, m.present())
	}
	return m.mesh.peers
}

// linked is what a large group knows of its neighbours; nil in a small one, which
// knows no more of one than of another.
func (m *Machine) linked() *gossip.Links {
	if !m.large() {
		return nil
	}
	if m.mesh.links == nil {
		m.mesh.links = new(gossip.Links)
	}
	if !m.mesh.joined {
		m.mesh.joined, m.mesh.laid = true, nil
		m.mesh.links.Join(m.cfg.Self, m.neighbours(), layout{m})
	}
	return m.mesh.links
}

// layout lays a machine's mesh out.
type layout struct{ machine *Machine }

// Lay implements gossip.Layout. The mesh is large, and kept only where others have
// it too.
func (l layout) Lay() *gossip.Mesh {
	m := l.machine
	peers := func() []feedring.PeerID { return append(slices.Clip(m.present()), m.cfg.Self) }
	if m.cfg.Meshes == nil {
		return gossip.NewMesh(peers(), catalogue.Spot)
	}
	if m.mesh.laid == nil {
		m.mesh.laid = m.cfg.Meshes.Mesh(peers(), catalogue.Spot)
	}
	return m.mesh.laid
}

// maxCounted is how many entries of one poll count at most: what a newcomer lacks
// of the past is no exchange, and should not put it behind all others.
const maxCounted = 16

// served counts entries that a neighbour polled here. It would not have asked if
// somebody else had told it first.
func (m *Machine) served(s Served) {
	if l := m.linked(); l != nil {
		l.Asked(s.Feed.Publisher, s.To)
		l.Sent(s.To, min(s.Entries, maxCounted))
	}
}

// Debt is what a neighbour took more than it gave, in entries; less than zero: it
// gave more.
type Debt struct {
	Peer    feedring.PeerID
	Entries int
}

// reportDebt tells the driver whom to serve last.
func (m *Machine) reportDebt() {
	l := m.linked()
	if l == nil {
		if m.mesh.reported {
			m.mesh.reported = false
			m.emit(Owing{Group: m.group})
		}
		return
	}
	owed := []Debt{}
	for _, p := range m.neighbours() {
		if d := l.Balance(p); d != 0 {
			owed = append(owed, Debt{p, d})
		}
	}
	m.mesh.reported = true
	m.emit(Owing{Group: m.group, Owed: owed})
}
