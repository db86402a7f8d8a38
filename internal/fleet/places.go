package fleet

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

const (
	weightUnit = 1 << 14 // interests
	maxWeight  = 256
	// MaxMembers is how many members have places. Those with the least ids count.
	MaxMembers = 1 << 10
)

// Member is a peer of the fleet as one of its members sees it.
type Member struct {
	Peer      feedring.PeerID
	Interests int       // that it has room for, as it says
	Present   bool      // it is not away
	Gone      bool      // it has been away for so long that others take its slots
	Seen      time.Time // when it was last there, where it is not
}

// weight is how many hashes a member has for each slot.
func (m *Member) weight() int { return min(max(m.Interests/weightUnit, 1), maxWeight) }

// place is a member with the greatest of its hashes for each slot.
type place struct {
	Member
	weight   int
	greatest *[Slots]uint32
}

// Places says which members have which slots. It does not change: a nil Places, which
// has no members, is the first.
type Places struct {
	places  []place // in order of their ids
	holders [Slots][2]int16
}

const nobody = -1

// With returns the places of other members. Only hashes of members that are new, or
// whose weight changed, are made.
func (p *Places) With(members []Member) *Places {
	members = slices.Clone(members)
	sort.SliceStable(members, func(i, j int) bool { return members[i].Peer < members[j].Peer })
	members = slices.CompactFunc(members, func(a, b Member) bool { return a.Peer == b.Peer })
	next := &Places{places: make([]place, 0, len(members))}
	for _, m := range members[:min(len(members), MaxMembers)] {
		now := place{Member: m, weight: m.weight()}
		if was := p.find(m.Peer); was != nil && was.weight == now.weight {
			now.greatest = was.greatest
		} else {
			now.greatest = greatestOf(m.Peer, now.weight)
		}
		next.places = append(next.places, now)
	}
	next.choose()
	return next
}

func (p *Places) find(peer feedring.PeerID) *place {
	if p == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(p.places, peer, func(m place, id feedring.PeerID) int { return strings.Compare(string(m.Peer), string(id)) })
	if !ok {
		return nil
	}
	return &p.places[i]
}

// greatestOf makes a member's hashes: so many for each slot, of which the greatest
// counts. A member of twice the weight is so first in twice as many slots.
func greatestOf(peer feedring.PeerID, weight int) *[Slots]uint32 {
	sum := sha256.Sum256([]byte("feedring fleet place\x00" + string(peer)))
	seed := binary.BigEndian.Uint64(sum[:])
	var greatest [Slots]uint32
	for s := range greatest {
		for i := range weight {
			greatest[s] = max(greatest[s], uint32(mix(seed+uint64(s*maxWeight+i))>>32))
		}
	}
	return &greatest
}

// mix is the finalizer of SplitMix64 (Steele et al., "Fast Splittable Pseudorandom
// Number Generators").
func mix(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// choose finds the first two members of each slot that are not gone. Of two with the
// same hash the one with the lesser id is first.
func (p *Places) choose() {
	for s := range p.holders {
		p.holders[s] = [2]int16{nobody, nobody}
	}
	var best [Slots][2]uint32
	for i := range p.places {
		m := &p.places[i]
		if m.Gone {
			continue
		}
		for s, hash := range m.greatest {
			switch holders, best := &p.holders[s], &best[s]; {
			case holders[0] == nobody || hash > best[0]:
				holders[0], holders[1], best[0], best[1] = int16(i), holders[0], hash, best[0]
			case holders[1] == nobody || hash > best[1]:
				holders[1], best[1] = int16(i), hash
			}
		}
	}
}

// Holders returns the two members that keep the rows of a slot, in the order in which
// they serve it; empty: there are not so many.
func (p *Places) Holders(s Slot) (first, second feedring.PeerID) {
	if p == nil {
		return "", ""
	}
	at := p.holders[s]
	return p.peer(at[0]), p.peer(at[1])
}

func (p *Places) peer(at int16) feedring.PeerID {
	if at == nobody {
		return ""
	}
	return p.places[at].Peer
}

// Serves returns the member that has the feeds of a slot open: the first holder that is
// present; empty: neither is.
func (p *Places) Serves(s Slot) feedring.PeerID {
	if p == nil {
		return ""
	}
	for _, at := range p.holders[s] {
		if at != nobody && p.places[at].Present {
			return p.places[at].Peer
		}
	}
	return ""
}

// Present reports whether a peer is a member that is not away.
func (p *Places) Present(peer feedring.PeerID) bool {
	m := p.find(peer)
	return m != nil && m.Present
}
