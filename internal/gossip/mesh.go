package gossip

import (
	"cmp"
	"slices"

	"github.com/feedring/feedring"
)

// circles is how many circles a large group is laid out on: each gives a peer
// its two neighbours, the same ones by everybody's reckoning.
const circles = 5

// Mesh is a large group, by its members alone: all who know the same members
// know the same mesh, and the same trees in it.
type Mesh struct {
	peers  []feedring.PeerID // in order
	links  []int32           // by peer, 2 * circles of each: its neighbours, in order
	count  []uint8           // of them
	marked []uint64          // by peer: a hash
}

// NewMesh lays peers out. Spot is the place of a peer on a circle, the same
// everywhere.
func NewMesh(peers []feedring.PeerID, spot func(circle uint64, p feedring.PeerID) uint64) *Mesh {
	m := &Mesh{peers: slices.Clone(peers)}
	slices.Sort(m.peers)
	m.peers = slices.Compact(m.peers)
	m.links, m.count, m.marked = make([]int32, 2*circles*len(m.peers)), make([]uint8, len(m.peers)), make([]uint64, len(m.peers))
	order := make([]int32, len(m.peers))
	at := make([]uint64, len(m.peers))
	for c := range uint64(circles) {
		for i, p := range m.peers {
			order[i], at[i] = int32(i), spot(c, p)
		}
		if c == 0 {
			copy(m.marked, at)
		}
		slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(at[a], at[b]), cmp.Compare(a, b)) })
		for k, i := range order {
			m.link(i, order[(k+1)%len(order)])
		}
	}
	for i := range m.peers {
		slices.Sort(m.near(int32(i)))
	}
	return m
}

// near lists the neighbours of a peer.
func (m *Mesh) near(i int32) []int32 {
	return m.links[2*circles*i:][:m.count[i]]
}

func (m *Mesh) link(i, j int32) {
	if i == j || slices.Contains(m.near(i), j) {
		return
	}
	for _, l := range [][2]int32{{i, j}, {j, i}} {
		m.links[2*circles*l[0]+int32(m.count[l[0]])] = l[1]
		m.count[l[0]]++
	}
}

// Neighbours returns the 8 to 10 neighbours of a peer, in order; none of who is
// not there.
func (m *Mesh) Neighbours(p feedring.PeerID) []feedring.PeerID {
	i, ok := slices.BinarySearch(m.peers, p)
	if !ok {
		return nil
	}
	return m.named(m.near(int32(i)))
}

func (m *Mesh) named(indices []int32) []feedring.PeerID {
	named := make([]feedring.PeerID, len(indices))
	for k, i := range indices {
		named[k] = m.peers[i]
	}
	return named
}

// Below returns whom a peer tells of what source publishes: its children in the
// tree of shortest ways from source, and in second place those neighbours that
// have children of their own and another parent, so that no single peer's silence
// takes a branch off. That makes some 1.3 announcements for each peer. Of a source
// that is not there, all neighbours.
func (m *Mesh) Below(source, self feedring.PeerID) []feedring.PeerID {
	root, ok := slices.BinarySearch(m.peers, source)
	me, here := slices.BinarySearch(m.peers, self)
	if !ok || !here {
		return m.Neighbours(self)
	}
	first, second := m.parents(m.depths(root), uint64(root))
	carries := make([]bool, len(m.peers))
	for _, p := range first {
		if p >= 0 {
			carries[p] = true
		}
	}
	var below []int32
	for _, i := range m.near(int32(me)) {
		if first[i] == int32(me) || second[i] == int32(me) && carries[i] {
			below = append(below, i)
		}
	}
	return m.named(below)
}

// depths is how many hops every peer is from a root.
func (m *Mesh) depths(root int) []int32 {
	depth := make([]int32, len(m.peers))
	for i := range depth {
		depth[i] = -1
	}
	depth[root] = 0
	for queue := []int32{int32(root)}; len(queue) > 0; queue = queue[1:] {
		for _, j := range m.near(queue[0]) {
			if depth[j] < 0 {
				depth[j] = depth[queue[0]] + 1
				queue = append(queue, j)
			}
		}
	}
	return depth
}

// parents chooses for each peer who tells it first, one hop nearer to the root,
// and who tells it in second place, no farther from the root than itself; -1:
// nobody. Among several a hash decides, so that the work is spread, another way
// for each root.
func (m *Mesh) parents(depth []int32, root uint64) (first, second []int32) {
	first, second = make([]int32, len(depth)), make([]int32, len(depth))
	for v := range depth {
		first[v], second[v] = -1, -1
		var best, next uint64
		for _, u := range m.near(int32(v)) {
			if depth[v] == 0 || depth[u] > depth[v] || depth[u] < 0 {
				continue
			}
			h := mix(m.marked[v]^mix(m.marked[u]^mix(m.marked[root]))) >> 1
			if depth[u] < depth[v] {
				h |= 1 << 63
			}
			switch {
			case first[v] < 0 || h > best:
				second[v], next = first[v], best
				first[v], best = u, h
			case second[v] < 0 || h > next:
				second[v], next = u, h
			}
		}
	}
	return first, second
}

// mix scatters bits (splitmix64's last steps).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
