package ring

import (
	"cmp"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring/internal/arcs"
	"github.com/feedring/feedring/ring/internal/ringmap"
)

const (
	maxHops     = 10_000
	hopPatience = 500 * time.Millisecond
)

// hop is a search message that waits for its acknowledgement.
type hop struct {
	message Search
	tried   []feedring.PeerID
	until   time.Time
}

func (h *hop) wakeAt() time.Time { return h.until }

type hopKey struct {
	attempt   Attempt
	group     feedring.GroupID
	direction Direction
}

func (k hopKey) compare(o hopKey) int {
	return cmp.Or(k.attempt.Compare(o.attempt), k.group.Compare(o.group), cmp.Compare(k.direction, o.direction))
}

// forward sends s, which was at s.Group, to the next group on its arc, or tells
// the coordinator that the arc ended.
func (m *Machine) forward(s Search) {
	a := arcs.Arc{Direction: s.Direction, Origin: s.Origin, End: s.End}
	next, ok := a.Next(m.ringMap.Order(), s.Group)
	if !ok || s.Hop >= s.HopLimit || len(s.Visited) >= ringmap.MaxGroups {
		m.send(s.Coordinator, Exhausted{ID: s.ID, Attempt: s.Attempt, Direction: s.Direction,
			Visited: s.Visited, Serving: s.Serving, Hop: s.Hop, C: s.C})
		return
	}
	s.Group = next
	s.Hop++
	if s.Hop > 1 {
		s.C-- // the first hop carries C as the paper computes it
	}
	m.hopTo(&hop{message: s})
}

// hopTo sends h to the first peer of its group that was not tried: the
// manager, then the secondary; then it skips the group, which stays unvisited.
func (m *Machine) hopTo(h *hop) {
	s := &h.message
	key := hopKey{Attempt{s.ID, s.Attempt}, s.Group, s.Direction}
	for _, p := range m.peers(s.Group) {
		if !slices.Contains(h.tried, p) {
			h.tried = append(h.tried, p)
			h.until = m.now.Add(hopPatience)
			m.hops[key] = h
			m.send(p, *s)
			return
		}
	}
	delete(m.hops, key)
	if s.Direction != Direct {
		m.forward(*s)
	}
}

func (m *Machine) onSearchAck(a SearchAck) {
	delete(m.hops, hopKey{Attempt{a.ID, a.Attempt}, a.Group, a.Direction})
}

func (m *Machine) hopsDue() {
	for _, key := range dueKeys(m.hops, m.now, hopKey.compare) {
		h := m.hops[key]
		if h.message.Within -= hopPatience; h.message.Within <= 0 {
			delete(m.hops, key)
			continue
		}
		m.hopTo(h)
	}
}
