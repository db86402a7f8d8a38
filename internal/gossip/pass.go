package gossip

import (
	"slices"

	"github.com/feedring/feedring"
)

// parents is how many neighbours that are no farther from the source pass on to
// each peer what goes to all. In turn one more of all its neighbours does, so that
// no few who are silent keep it from hearing for long.
const parents = 2

// route is whom a peer passes on to what one source sends to all. It is never
// changed.
type route struct {
	source feedring.PeerID
	all    bool // of a source that is not on the mesh
	hops   []hop
	codes  []uint32 // see hop
}

// hop is a neighbour to whom this peer may pass something on.
type hop struct {
	peer     uint8 // by index
	turn, of uint8 // it is this peer's turn under every number that leaves turn, divided by of
	end      uint8 // where its part of codes ends: those that may be its parents, this peer first, or nobody
}

// nearer marks the code of a parent that is nearer to the source. The rest of a
// code is a hash.
const nearer = 1 << 31

// Pass appends to list whom this peer passes on to what source sent to all, under
// a number: those of whom it is a parent, and those whose turn it is. Of several
// possible parents those nearer to the source are chosen first, and a hash of the
// number chooses: who misses one, because its parents are gone or cut off, gets
// the next one from others.
func (l *Links) Pass(list []feedring.PeerID, source feedring.PeerID, number uint64) []feedring.PeerID {
	if l.route == nil || l.route.source != source {
		l.route = l.routes(source)
	}
	if l.route.all {
		return append(list, l.peers...)
	}
	codes := l.route.codes
	from := uint8(0)
	for _, h := range l.route.hops {
		if number%uint64(h.of) == uint64(h.turn) || parent(codes[from:h.end], number) {
			list = append(list, l.peers[h.peer])
		}
		from = h.end
	}
	return list
}

// parent reports whether the first one of codes is a parent under a number.
func parent(codes []uint32, number uint64) bool {
	if len(codes) == 0 {
		return false
	}
	before, own := 0, rank(codes[0], number)
	for _, c := range codes[1:] {
		if rank(c, number) > own {
			before++
		}
	}
	return before < parents
}

func rank(code uint32, number uint64) uint64 {
	return uint64(code&nearer)<<32 | mix(uint64(code)^mix(number))>>1
}

func (l *Links) routes(source feedring.PeerID) *route {
	r := &route{source: source, all: true}
	if l.layout == nil {
		return r
	}
	m := l.layout.Lay()
	root, ok := slices.BinarySearch(m.peers, source)
	me, here := slices.BinarySearch(m.peers, l.self)
	if !ok || !here {
		return r
	}
	r.all = false
	depth := m.depths(root)
	for _, v := range m.near(int32(me)) {
		if i := slices.Index(l.peers, m.peers[v]); i >= 0 && int(v) != root {
			near := m.near(v)
			of := uint64(len(near))
			place := uint64(slices.Index(near, int32(me)))
			r.codes = m.codes(r.codes, v, int32(me), depth)
			r.hops = append(r.hops, hop{peer: uint8(i), turn: uint8((place + m.marked[v]%of) % of), of: uint8(of), end: uint8(len(r.codes))})
		}
	}
	return r
}

// codes appends who may be a parent of a peer, me first; nobody where me may not.
func (m *Mesh) codes(codes []uint32, of, me int32, depth []int32) []uint32 {
	if depth[me] > depth[of] {
		return codes
	}
	code := func(by int32) uint32 {
		c := uint32(mix(m.marked[of]^mix(m.marked[by]))) &^ nearer
		if depth[by] < depth[of] {
			c |= nearer
		}
		return c
	}
	codes = append(codes, code(me))
	for _, by := range m.near(of) {
		if by != me && depth[by] <= depth[of] {
			codes = append(codes, code(by))
		}
	}
	return codes
}
