package gossip

import (
	"reflect"
	"slices"
	"testing"
)

// A mesh of a shelf is the one that each peer would lay out, once for all.
func TestShelf(t *testing.T) {
	f := NewShelf()
	want, ids := meshOf(70)
	got := f.Mesh(ids, spot)
	if !reflect.DeepEqual(got, want) {
		t.Error("another mesh than without the shelf")
	}
	turned := slices.Concat(ids[30:], ids[:30])
	if f.Mesh(turned, spot) != got || turned[0] != ids[30] {
		t.Error("laid out twice, or the peers are sorted")
	}
	if fewer := f.Mesh(ids[1:], spot); fewer == got || len(fewer.Neighbours(ids[0])) > 0 {
		t.Error("the mesh of other peers")
	}
}
