package group

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
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
