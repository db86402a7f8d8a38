package integration

import (
	"testing"

	"github.com/feedring/feedring/internal/sim/experiment/planet"
)

// planetNet is a network whose machines are as far from each other as nodes of PlanetLab.
type planetNet struct {
	*lossyNet
	places *planet.Places
	placed []*machine // each at the place of its number
}

func newPlanetNet(t testing.TB) *planetNet {
	t.Helper()
	n := &planetNet{lossyNet: newLossyNet(t, 1, conditions{}), places: planet.PlanetLab().Places(1)}
	n.far = true
	return n
}

// planetLoss is assumed: the matrix has none.
const planetLoss = 0.001

// place puts a machine at the next place.
func (n *planetNet) place(m *machine) *machine {
	at := len(n.placed)
	for i, other := range n.placed {
		n.between(m, other, conditions{delay: n.places.OneWay(at, i), loss: planetLoss})
		n.between(other, m, conditions{delay: n.places.OneWay(i, at), loss: planetLoss})
	}
	n.placed = append(n.placed, m)
	return m
}
