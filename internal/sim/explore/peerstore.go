package explore

const (
	// mostKept bounds the peers that are at hand; some 5 KiB each.
	mostKept = 1 << 16
	// landmarks is how many things at most must happen again to make a peer that
	// is not at hand: each peer so far from the last one that is kept for ever is
	// kept for ever.
	landmarks = 32
)

// peerStore holds peers: the last ones that were needed, landmarks, and how every
// other one came to be.
type peerStore struct {
	kept   []slot // by number, modulo their count
	always map[peerID]Peer
	made   []happening // of every peer; its own peer is the one before
	far    []uint8     // from the landmark
	remade int
}

type slot struct {
	id   peerID
	peer Peer
}

func newPeerStore() peerStore {
	return peerStore{kept: make([]slot, mostKept), always: map[peerID]Peer{}}
}

// put takes in the peer with the next number. One that is down is small, and
// is its own landmark.
func (s *peerStore) put(id peerID, p Peer, how happening) {
	far := landmarks
	if how.what != nothing && p.Up() {
		far = int(s.far[how.peer]) + 1
	}
	if far == landmarks {
		s.always[id] = p
		far = 0
	}
	s.made, s.far = append(s.made, how), append(s.far, uint8(far))
	s.keep(id, p)
}

func (s *peerStore) keep(id peerID, p Peer) { s.kept[int(id)%len(s.kept)] = slot{id, p} }

// find returns the last peer at hand on the way to id, and those that are not,
// id first.
func (s *peerStore) find(id peerID) (p Peer, way []peerID) {
	for ; ; id = s.made[id].peer {
		if k := s.kept[int(id)%len(s.kept)]; k.id == id && k.peer != nil {
			return k.peer, way
		}
		if s.far[id] == 0 {
			return s.always[id], way
		}
		way = append(way, id)
	}
}
