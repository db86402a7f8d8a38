package group

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/mesh"
	"github.com/feedring/feedring/internal/gossip"
)

// The membership's part in the mesh of a large group: mesh.Mesh knows the neighbours.

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
