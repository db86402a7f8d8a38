package peer

import (
	"maps"
	"time"

	"github.com/feedring/feedring"
)

// Places that peers without a ring entry may ask for within strangerWindow, which is
// about as long as a place is kept. A peer that coordinates because its own
// leaders are away needs a few; anybody else gets no more than that either.
const (
	strangerWindow = 10 * time.Second
	strangerEach   = 64
	strangerAll    = 1024
)

// outsiders counts the places that peers without a ring entry asked for.
type outsiders struct {
	began time.Time
	all   int
	each  map[feedring.PeerID]int
}

func (s outsiders) clone() outsiders {
	s.each = maps.Clone(s.each)
	return s
}

// take counts one more, and reports whether there is room for it.
func (s *outsiders) take(from feedring.PeerID, now time.Time) bool {
	if s.each == nil || !now.Before(s.began.Add(strangerWindow)) {
		*s = outsiders{began: now, each: map[feedring.PeerID]int{}}
	}
	if s.all >= strangerAll || s.each[from] >= strangerEach {
		return false
	}
	s.all++
	s.each[from]++
	return true
}

// mayPlace reports whether from may have a lookup done in a group: peers with a ring
// entry and members of the group coordinate queries. Others have a small quota.
func (m *Machine) mayPlace(it *membership, from feedring.PeerID) bool {
	if from == m.cfg.Self {
		return true
	}
	if m.ring.HasEntry(from) {
		return true
	}
	return it.settled() && it.group.Has(from) || m.outsiders.take(from, m.now)
}
