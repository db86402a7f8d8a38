package ring

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring/internal/ringmap"
)

// Live returns the rows of the groups on the ring, in ring order. The rows must
// not be changed.
func (m *Machine) Live() []*Row { return m.ringMap.Live() }

// Shown returns what readers are shown of the ring, the same value until the map
// changes.
func (m *Machine) Shown() *Shown { return m.ringMap.Shown() }

// Row returns what the map says of g. live is false where the group is lost,
// gone or unknown; known is false where there is no row at all.
func (m *Machine) Row(g feedring.GroupID) (row Row, live, known bool) {
	r := m.ringMap.At(g)
	if r == nil {
		return Row{}, false, false
	}
	s := r.Effective()
	return *s.Row, s.Present(), true
}

// Claimants lists who the map says leads g: the manager and the secondary of the row that counts, then
// those of the row that would count if that one were lost.
func (m *Machine) Claimants(g feedring.GroupID) (peers []feedring.PeerID) {
	r := m.ringMap.At(g)
	if r == nil || !r.Present() {
		return nil
	}
	peers = r.Effective().Row.Leaders(make([]feedring.PeerID, 0, 4))
	if other := r.Other(); other != nil {
		peers = other.Row.Leaders(peers)
	}
	return peers
}

// OnRing reports whether g is on the ring.
func (m *Machine) OnRing(g feedring.GroupID) bool {
	r := m.ringMap.At(g)
	return r != nil && r.Present()
}

// Seated reports whether p, another peer than this one, is a manager or
// secondary on the ring.
func (m *Machine) HasEntry(p feedring.PeerID) bool {
	_, found := slices.BinarySearch(m.present(), p)
	return found
}

// Highest returns the highest term number that any row or tombstone of g
// shows, and 0 where there is none.
func (m *Machine) Highest(g feedring.GroupID) uint64 {
	r := m.ringMap.At(g)
	if r == nil {
		return 0
	}
	highest := uint64(0)
	for i := range r.Slots {
		if s := &r.Slots[i]; s.Held() {
			highest = max(highest, s.Row.Term.Number)
		}
	}
	return highest
}

// Hides reports whether an acknowledged row of g keeps what is told under term
// out of the map, be it live or not.
func (m *Machine) Hides(g feedring.GroupID, term feedring.Term) bool {
	r := m.ringMap.At(g)
	return r != nil && r.Slots[ringmap.KindOf(true)].Held() && r.Slots[ringmap.KindOf(true)].Row.Term.Compare(term) > 0
}

// Synced reports whether this peer ever had the whole map of another one.
func (m *Machine) Synced() bool { return m.gossip.synced }

// Hash is equal for peers whose maps are.
func (m *Machine) Hash(now time.Time) uint64 { return m.ringMap.Hash(now) }

// Searching returns how many searches are coordinated here and how many hops
// wait for their acknowledgement.
func (m *Machine) Searching() (searches, hops int) { return len(m.searches), len(m.hops) }

// peers returns the manager and the secondary of g as the effective row names
// them, live or not.
func (m *Machine) peers(g feedring.GroupID) []feedring.PeerID {
	r := m.ringMap.At(g)
	if r == nil {
		return nil
	}
	return r.Effective().Row.Leaders(make([]feedring.PeerID, 0, 2))
}
