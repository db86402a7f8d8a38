package explore

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// state is one state of a whole group.
type state struct {
	n       int
	peers   [MaxPeers]peerID
	stopped uint8  // a bit for each peer
	cut     uint32 // a bit for each direction between two peers
	left    uint8  // of the budget of faults
	flights []flight
}

// flight is a message under way. Flights are kept in order of from, to and
// lane, those of one lane in the order in which they were sent.
type flight struct {
	from, to, lane, age uint8
	msg                 messageID
}

func (f flight) sameLane(o flight) bool { return f.from == o.from && f.to == o.to && f.lane == o.lane }

func compareLanes(a, b flight) int {
	return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.lane, b.lane))
}

// head says that no flight of its lane is before flight i.
func (s *state) head(i int) bool { return i == 0 || !s.flights[i].sameLane(s.flights[i-1]) }

func (s *state) clone() *state {
	c := *s
	c.flights = slices.Clone(s.flights)
	return &c
}

func (s *state) isStopped(p int) bool { return s.stopped>>p&1 == 1 }

// direction is the bit of what from sends to.
func (s *state) direction(from, to int) uint32 { return 1 << (from*s.n + to) }

func (s *state) isCut(from, to int) bool { return s.cut&s.direction(from, to) != 0 }

// insert puts a flight behind those of its lane.
func (s *state) insert(f flight) {
	i, _ := slices.BinarySearchFunc(s.flights, f, func(x, f flight) int {
		if compareLanes(x, f) <= 0 {
			return -1
		}
		return 1
	})
	s.flights = slices.Insert(s.flights, i, f)
}

// encode appends the state, from which decode makes it again.
func (s *state) encode(to []byte) []byte {
	for _, p := range s.peers[:s.n] {
		to = binary.LittleEndian.AppendUint32(to, uint32(p))
	}
	to = append(to, s.stopped, s.left)
	to = binary.LittleEndian.AppendUint32(to, s.cut)
	for _, f := range s.flights {
		to = append(to, f.from<<4|f.to, f.lane, f.age)
		to = binary.LittleEndian.AppendUint32(to, uint32(f.msg))
	}
	return to
}

func (s *state) decode(from []byte) {
	for i := range s.n {
		s.peers[i] = peerID(binary.LittleEndian.Uint32(from))
		from = from[4:]
	}
	s.stopped, s.left = from[0], from[1]
	s.cut = binary.LittleEndian.Uint32(from[2:])
	s.flights = s.flights[:0]
	for from = from[6:]; len(from) > 0; from = from[7:] {
		s.flights = append(s.flights, flight{
			from: from[0] >> 4, to: from[0] & 15, lane: from[1], age: from[2],
			msg: messageID(binary.LittleEndian.Uint32(from[3:])),
		})
	}
}

// hash is of an encoded state; never 0.
func hash(b []byte) uint64 {
	h := uint64(len(b))*0x9e3779b97f4a7c15 + 1
	for ; len(b) >= 8; b = b[8:] {
		h = mix(h ^ binary.LittleEndian.Uint64(b))
	}
	var last [8]byte
	copy(last[:], b)
	return max(1, mix(h^binary.LittleEndian.Uint64(last[:])))
}

func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
