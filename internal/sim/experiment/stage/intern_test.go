package stage

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/gossip"
)

func TestInternerLaysEachMeshOutOnce(t *testing.T) {
	spot := func(circle uint64, p feedring.PeerID) uint64 {
		sum := circle
		for _, b := range []byte(p) {
			sum = (sum ^ uint64(b)) * 1099511628211
		}
		return sum
	}
	ids := make([]feedring.PeerID, 70)
	for i := range ids {
		ids[i] = feedring.PeerID(fmt.Sprintf("p%02d", i))
	}
	in := newInterner()
	got := in.Mesh(ids, spot)
	if !reflect.DeepEqual(got, gossip.NewMesh(ids, spot)) {
		t.Error("another mesh than without the interner")
	}
	turned := slices.Concat(ids[30:], ids[:30])
	if in.Mesh(turned, spot) != got || turned[0] != ids[30] {
		t.Error("laid out twice, or the peers are sorted")
	}
	if fewer := in.Mesh(ids[1:], spot); fewer == got || len(fewer.Neighbours(ids[0])) > 0 {
		t.Error("the mesh of other peers")
	}
}
