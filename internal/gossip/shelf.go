package gossip

import (
	"slices"
	"strings"

	"github.com/feedring/feedring"
)

// Shelf lets machines of one process that are in the same groups lay a mesh out
// once. It changes nothing that a machine does. One goroutine steps all machines
// of a shelf.
type Shelf struct {
	meshes map[string]*Mesh
}

// maxMeshes is after how many meshes a shelf begins anew: those of the past are
// never asked for again.
const maxMeshes = 10_000

// NewShelf returns an empty one.
func NewShelf() *Shelf { return &Shelf{meshes: map[string]*Mesh{}} }

// Mesh is NewMesh of the same peers.
func (f *Shelf) Mesh(peers []feedring.PeerID, spot func(circle uint64, p feedring.PeerID) uint64) *Mesh {
	peers = slices.Clone(peers)
	slices.Sort(peers)
	var key strings.Builder
	for _, p := range peers {
		key.WriteString(string(p))
		key.WriteByte(0)
	}
	m := f.meshes[key.String()]
	if m == nil {
		if len(f.meshes) >= maxMeshes {
			clear(f.meshes)
		}
		m = NewMesh(peers, spot)
		f.meshes[key.String()] = m
	}
	return m
}
