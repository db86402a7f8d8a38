package ring

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring/internal/message"
)

const directWindow = 64 // groups asked directly at the same time

// direct is a group that the coordinator asks itself.
type direct struct {
	next  time.Time
	tries int
}

// unvisited lists the live groups that nobody answered for, in ring order. A
// group that is lost or gone counts as visited.
func (m *Machine) unvisited(s *search) []feedring.GroupID {
	var rest []feedring.GroupID
	for _, g := range m.ringMap.Order() {
		if !s.visited[g] {
			rest = append(rest, g)
		}
	}
	return rest
}

// askDirect asks, again and again until the deadline: a group without a
// manager has another one in little more than a refresh period.
func (m *Machine) askDirect(s *search, rest []feedring.GroupID) {
	s.again = time.Time{}
	for _, g := range rest[:min(len(rest), directWindow)] {
		d := s.direct[g]
		if d == nil {
			d = &direct{}
			s.direct[g] = d
		}
		if !m.now.Before(d.next) {
			peers := m.peers(g)
			m.send(peers[d.tries%len(peers)], m.directly(s, g))
			d.tries++
			d.next = m.now.Add(hopPatience)
			s.counted++
		}
		if s.again.IsZero() || d.next.Before(s.again) {
			s.again = d.next
		}
	}
}

// directly is the search message for g alone. Its hop is the depth at which
// the ring would have come to g.
func (m *Machine) directly(s *search, g feedring.GroupID) Search {
	order := m.ringMap.Order()
	return Search{ID: s.begin.ID, Attempt: s.begin.Attempt, Coordinator: m.cfg.Self, Group: g,
		Origin: s.begin.From, End: g, Direction: Direct,
		Hop: max(1, order.Depth(s.begin.From, g)), HopLimit: message.HopLimit(len(order)),
		Theme: s.begin.Theme, Provider: s.begin.Provider, Within: s.deadline.Sub(m.now)}
}
