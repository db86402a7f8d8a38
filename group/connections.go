package group

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/mesh"
	"github.com/feedring/feedring/internal/gossip"
)

// connections is the peers whose connections are kept.
type connections struct {
	protected []feedring.PeerID
	inputs    protectInputs `state:"derived"` // what protected was made of
}

// protectInputs is what decides about connections, and about ranks: most steps change nothing of it.
type protectInputs struct {
	index              *catalogue.Index
	manager, secondary feedring.PeerID
}

func (m *Machine) protect() {
	in := protectInputs{manager: m.manager(), secondary: m.lead.secondary}
	if !m.lead.claim.Term.IsZero() {
		in.index = m.index()
	}
	if m.departed || in == m.conns.inputs {
		return
	}
	m.conns.inputs = in
	if peers := m.important(); !slices.Equal(peers, m.conns.protected) {
		m.conns.protected = peers
		m.emit(Protect{Group: m.group, Peers: slices.Clone(peers)})
	}
}

// important lists the peers whose connections are kept, in order.
func (m *Machine) important() []feedring.PeerID {
	if m.lead.claim.Term.IsZero() {
		return nil
	}
	peers := m.neighbours()
	for _, p := range []feedring.PeerID{m.manager(), m.lead.secondary} {
		if p != "" && p != m.cfg.Self && !slices.Contains(peers, p) {
			peers = append(slices.Clip(peers), p)
		}
	}
	return peers
}

// Meshes lays each mesh out once for several machines of one process. A machine
// decides the same without it.
type Meshes = mesh.Meshes

// Balance is what a neighbour took more than it gave.
type Balance = mesh.Balance

func (m *Machine) neighbours() []feedring.PeerID { return m.mesh.Neighbours(m.present()) }

// linked is what a large group knows of its neighbours; nil in a small one.
func (m *Machine) linked() *gossip.Links { return m.mesh.Links(m.present()) }

// reportDebt tells the driver whom to serve last.
func (m *Machine) reportDebt() {
	if owed, told := m.mesh.Owed(m.present()); told {
		m.emit(Owing{Group: m.group, Owed: owed})
	}
}
