package group

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/internal/spread"
)

// neighbours lists the peers to send beacons to, and those among which notifies
// spread, in order of rank: all that are there, or 8 to 10 of them in a large
// group.
func (m *Machine) neighbours() []feedring.PeerID {
	if !m.large() {
		return m.present()
	}
	if m.mesh == nil {
		m.mesh = catalogue.Mesh(m.cfg.Self, m.present())
	}
	return m.mesh
}

// linked is what a large group knows of its neighbours; nil in a small one, which
// knows no more of one than of another.
func (m *Machine) linked() *spread.Links {
	if !m.large() {
		return nil
	}
	if m.links == nil {
		m.links = new(spread.Links)
	}
	if !m.joined {
		m.joined = true
		m.links.Join(m.cfg.Self, m.neighbours(), m.layMesh)
	}
	return m.links
}

func (m *Machine) layMesh() *spread.Mesh {
	return spread.NewMesh(append(slices.Clip(m.present()), m.cfg.Self), catalogue.Spot)
}

// served counts entries that a neighbour polled here. It would not have asked if
// somebody else had told it first.
func (m *Machine) served(s Served) {
	if l := m.linked(); l != nil {
		l.Asked(s.Feed.Publisher, s.To)
		l.Sent(s.To, s.Entries)
	}
}
