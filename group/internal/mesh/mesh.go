// Package mesh is the neighbourhood of a peer in a large group: whom it tells of news, and what each of these took
// beyond what it gave.
package mesh

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/internal/gossip"
)

// above is how many others a group has that spreads over a mesh.
const above = 64

// Needed reports whether a group of so many others spreads messages over a mesh.
func Needed(others int) bool { return others >= above }

// Meshes lays each mesh out once for several machines of one process. A machine
// decides the same without it.
type Meshes interface {
	Mesh(peers []feedring.PeerID, spot func(circle uint64, p feedring.PeerID) uint64) *gossip.Mesh
}

// Mesh is one peer's. Use New. Its methods are told who of the group is there, this peer left out, and Forget
// whenever these are others.
type Mesh struct {
	self     feedring.PeerID
	shared   Meshes            `state:"changes nothing that is done"` // nil: shares with nobody
	peers    []feedring.PeerID `state:"derived"`                      // nil: to be made
	joined   bool              `state:"derived"`                      // links is of peers
	links    *gossip.Links     // nil until the group is large
	laid     *gossip.Mesh      `state:"derived"` // see layout; nil: to be made
	reported bool              // Owed gave an order of neighbours
}

// New returns the mesh of a group that is small.
func New(self feedring.PeerID, shared Meshes) Mesh { return Mesh{self: self, shared: shared} }

// Clone returns an independent copy.
func (n *Mesh) Clone() Mesh {
	c := *n
	c.Forget()
	if n.links != nil {
		c.links = n.links.Clone()
	}
	return c
}

// Forget forgets who the neighbours are.
func (n *Mesh) Forget() { n.peers, n.joined = nil, false }

// Neighbours lists the peers to send beacons to, and those among which notifies
// spread, in order of rank: all that are there, or 8 to 10 of them in a large
// group.
func (n *Mesh) Neighbours(present []feedring.PeerID) []feedring.PeerID {
	if !Needed(len(present)) {
		return present
	}
	if n.peers == nil {
		n.peers = catalogue.Mesh(n.self, present)
	}
	return n.peers
}

// Links is what a large group knows of its neighbours; nil in a small one, which
// knows no more of one than of another.
func (n *Mesh) Links(present []feedring.PeerID) *gossip.Links {
	if !Needed(len(present)) {
		return nil
	}
	if n.links == nil {
		n.links = new(gossip.Links)
	}
	if !n.joined {
		n.joined, n.laid = true, nil
		n.links.Join(n.self, n.Neighbours(present), layout{n, present})
	}
	return n.links
}

// layout lays a mesh out among the peers that are there.
type layout struct {
	of      *Mesh
	present []feedring.PeerID
}

// Lay implements gossip.Layout. The mesh is large, and kept only where others have
// it too.
func (l layout) Lay() *gossip.Mesh {
	peers := func() []feedring.PeerID { return append(slices.Clip(l.present), l.of.self) }
	if l.of.shared == nil {
		return gossip.NewMesh(peers(), catalogue.Spot)
	}
	if l.of.laid == nil {
		l.of.laid = l.of.shared.Mesh(peers(), catalogue.Spot)
	}
	return l.of.laid
}

// maxCounted is how many entries of one poll count at most: what a newcomer lacks
// of the past is no exchange, and should not put it behind all others.
const maxCounted = 16

// Served counts entries of a publisher that a neighbour polled here. It would not have asked if
// somebody else had told it first.
func (n *Mesh) Served(present []feedring.PeerID, publisher, to feedring.PeerID, entries int) {
	if l := n.Links(present); l != nil {
		l.Asked(publisher, to)
		l.Sent(to, min(entries, maxCounted))
	}
}

// Balance is what a neighbour took more than it gave, in entries; less than zero: it
// gave more.
type Balance struct {
	Peer    feedring.PeerID
	Entries int
}

// Owing tells in a large group, at most once in a third of the refresh
// period, what each neighbour that is not even took beyond what it gave: those that
// took most are served last where not all can be served at once. Nil: the
// group is not large any more, and all are alike.
type Owing struct {
	Group feedring.GroupID
	Owed  []Balance
}

// IsOutput says that it is one of the membership.
func (Owing) IsOutput() {}

// Owed lists the neighbours that are not even, and says whether that is to be told: always in a large group, and
// once after it, with nobody.
func (n *Mesh) Owed(present []feedring.PeerID) (owed []Balance, told bool) {
	l := n.Links(present)
	if l == nil {
		told, n.reported = n.reported, false
		return nil, told
	}
	owed = []Balance{}
	for _, p := range n.Neighbours(present) {
		if d := l.Balance(p); d != 0 {
			owed = append(owed, Balance{p, d})
		}
	}
	n.reported = true
	return owed, true
}
