package stage

import (
	"slices"
	"strings"
	"weak"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/gossip"
	"github.com/feedring/feedring/ring"
)

// interner has machines of one process that know the same hold it once: a thousand
// peers have a thousand equal maps. It keeps no map alive. One goroutine steps all
// machines of an interner.
type interner struct {
	maps   map[uint64]weak.Pointer[ring.Snapshot] // by hash
	sweep  int                                    // at how many those are dropped that nobody has
	meshes map[string]*gossip.Mesh                // by the peers
}

// maxMeshes is after how many meshes all are dropped: those of the past are never
// asked for again.
const maxMeshes = 10_000

func newInterner() *interner {
	return &interner{maps: map[uint64]weak.Pointer[ring.Snapshot]{}, sweep: 64, meshes: map[string]*gossip.Mesh{}}
}

// Intern is ring.Interner's.
func (in *interner) Intern(s *ring.Snapshot) *ring.Snapshot {
	sum := s.Hash()
	if same := in.maps[sum].Value(); same != nil && same.Equal(s) {
		return same
	}
	if len(in.maps) >= in.sweep {
		for sum, held := range in.maps {
			if held.Value() == nil {
				delete(in.maps, sum)
			}
		}
		in.sweep = 2*len(in.maps) + 64
	}
	in.maps[sum] = weak.Make(s)
	return s
}

// Mesh is gossip.NewMesh of the same peers.
func (in *interner) Mesh(peers []feedring.PeerID, spot func(circle uint64, p feedring.PeerID) uint64) *gossip.Mesh {
	peers = slices.Clone(peers)
	slices.Sort(peers)
	var key strings.Builder
	for _, p := range peers {
		key.WriteString(string(p))
		key.WriteByte(0)
	}
	m := in.meshes[key.String()]
	if m == nil {
		if len(in.meshes) >= maxMeshes {
			clear(in.meshes)
		}
		m = gossip.NewMesh(peers, spot)
		in.meshes[key.String()] = m
	}
	return m
}
