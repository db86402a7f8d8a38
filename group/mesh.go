package group

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// neighbours lists the peers to send beacons and notifies to, in order of
// rank: all that are there, or 8 to 10 of them in a large group.
func (m *Machine) neighbours() []feedring.PeerID {
	if !m.large() {
		return m.present()
	}
	if m.mesh == nil {
		m.mesh = catalogue.Mesh(m.cfg.Self, m.present())
	}
	return m.mesh
}
