package group

import (
	"slices"

	"github.com/feedring/feedring"
)

// meshRings is how many circles a large group is laid out on: each gives a
// peer its two neighbours, the same ones by everybody's reckoning.
const meshRings = 5

// neighbours lists the peers to send beacons and notifies to, in order of
// rank: all that are there, or 8 to 10 of them in a large group.
func (m *Machine) neighbours() []feedring.PeerID {
	if !m.large() {
		return m.present()
	}
	if m.mesh == nil {
		m.mesh = m.layMesh()
	}
	return m.mesh
}

func (m *Machine) layMesh() []feedring.PeerID {
	var mesh []feedring.PeerID
	spots := make([]spot, 0, len(m.present())+1)
	for ring := range meshRings {
		spots = spots[:0]
		for _, p := range append([]feedring.PeerID{m.cfg.Self}, m.present()...) {
			spots = append(spots, spot{hash64(number(uint64(ring)), string(p)), p})
		}
		slices.SortFunc(spots, compareSpots)
		i := slices.IndexFunc(spots, func(s spot) bool { return s.peer == m.cfg.Self })
		for _, step := range []int{1, len(spots) - 1} {
			if p := spots[(i+step)%len(spots)].peer; p != m.cfg.Self && !slices.Contains(mesh, p) {
				mesh = append(mesh, p)
			}
		}
	}
	slices.Sort(mesh)
	return mesh
}
