package catalogue

import (
	"cmp"
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/hash"
)

// Checkers is how many peers beside the publisher look at a feed's site.
const Checkers = 2

// Circle holds peers by hash; the next ones after a feed's hash look at its
// site. Everybody finds the same ones.
type Circle []spot

type spot struct {
	key  uint64
	peer feedring.PeerID
}

// LayCircle lays peers out.
func LayCircle(peers []feedring.PeerID) Circle {
	c := make(Circle, 0, len(peers))
	for _, p := range peers {
		c = append(c, spot{hash.Of("vouch", string(p)), p})
	}
	slices.SortFunc(c, compareSpots)
	return c
}

// PresentCircle is the circle of the peers that are there, self included.
func (x *Index) PresentCircle() Circle {
	if x.circle == nil {
		x.circle = LayCircle(append(slices.Clip(x.Present), x.self))
	}
	return x.circle
}

func compareSpots(a, b spot) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.peer, b.peer))
}

// Looks reports whether p is ref's publisher or one of the n peers next to it.
func (c Circle) Looks(ref feedring.FeedRef, p feedring.PeerID, n int) bool {
	if p == ref.Publisher {
		return true
	}
	i, _ := slices.BinarySearchFunc(c, spot{key: hash.Of(ref.URL, string(ref.Publisher))}, compareSpots)
	for step := 0; step < len(c) && n > 0; step++ {
		switch q := c[(i+step)%len(c)].peer; q {
		case p:
			return true
		case ref.Publisher:
		default:
			n--
		}
	}
	return false
}

// Place is how many peers are between a feed and p on the circle, whoever publishes it: 0 is the nearest. It is most for
// one that is not among so many, or not there.
func (c Circle) Place(url string, p feedring.PeerID, most int) int {
	i, _ := slices.BinarySearchFunc(c, spot{key: hash.Of(url)}, compareSpots)
	for step := range min(most, len(c)) {
		if c[(i+step)%len(c)].peer == p {
			return step
		}
	}
	return most
}

// meshRings is how many circles a large group is laid out on: each gives a
// peer its two neighbours, the same ones by everybody's reckoning.
const meshRings = 5

// Mesh returns the 8 to 10 neighbours of self among the others of a large
// group, in order.
func Mesh(self feedring.PeerID, others []feedring.PeerID) []feedring.PeerID {
	var mesh []feedring.PeerID
	spots := make([]spot, 0, len(others)+1)
	for ring := range meshRings {
		spots = spots[:0]
		for _, p := range append([]feedring.PeerID{self}, others...) {
			spots = append(spots, spot{Spot(uint64(ring), p), p})
		}
		slices.SortFunc(spots, compareSpots)
		i := slices.IndexFunc(spots, func(s spot) bool { return s.peer == self })
		for _, step := range []int{1, len(spots) - 1} {
			if p := spots[(i+step)%len(spots)].peer; p != self && !slices.Contains(mesh, p) {
				mesh = append(mesh, p)
			}
		}
	}
	slices.Sort(mesh)
	return mesh
}

// Spot is where a peer of a large group is on one of the circles of its mesh.
func Spot(circle uint64, p feedring.PeerID) uint64 {
	return hash.Begin.Number(circle).Text(string(p)).End()
}
