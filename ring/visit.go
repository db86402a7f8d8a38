package ring

import (
	"slices"

	"github.com/feedring/feedring"
)

// visits remembers which groups this peer tested for which attempt, so that a
// group tests a query once however often it arrives. The oldest goes first.
type visits struct {
	seen  map[visitKey]*visited
	order []visitKey
	next  int // where order goes on, once it is full
}

type visitKey struct {
	attempt Attempt
	group   feedring.GroupID
}

type visited struct {
	serves bool
	passed [Direct + 1]bool // the directions it came by
}

const maxVisits = 20_000

func newVisits() visits { return visits{seen: map[visitKey]*visited{}} }

func (v *visits) add(key visitKey, it *visited) {
	if v.seen[key] != nil {
		v.seen[key] = it
		return
	}
	if len(v.order) < maxVisits {
		v.order = append(v.order, key)
	} else {
		delete(v.seen, v.order[v.next])
		v.order[v.next] = key
		v.next = (v.next + 1) % maxVisits
	}
	v.seen[key] = it
}

// onSearch tests a group that this peer is a member of, then passes the search
// on. A search for a group of others is not acknowledged: the sender goes on
// to the next peer that its map names.
func (m *Machine) onSearch(from feedring.PeerID, s Search) {
	serves, member := m.cfg.Memberships.Serves(s.Group, s.Provider)
	if !member || !s.Valid() || len(m.hops) >= maxHops {
		return
	}
	m.send(from, SearchAck{ID: s.ID, Attempt: s.Attempt, Group: s.Group, Direction: s.Direction})
	if s.Coordinator == m.cfg.Self && m.searches[Attempt{s.ID, s.Attempt}] == nil {
		return // its own, which has ended: nobody waits for what is found
	}
	key := visitKey{Attempt{s.ID, s.Attempt}, s.Group}
	it := m.visits.seen[key]
	if it == nil {
		it = &visited{serves: serves && (s.Theme == "" || s.Theme.Group() == s.Group)}
		m.visits.add(key, it)
	}
	repeated := it.passed[s.Direction]
	it.passed[s.Direction] = true
	if s.Direction == Direct {
		m.answerDirect(s, it.serves)
	} else if !repeated {
		m.pass(s, it.serves)
	}
}

func (m *Machine) answerDirect(s Search, serves bool) {
	if serves {
		m.tellFound(s)
		return
	}
	m.send(s.Coordinator, Exhausted{ID: s.ID, Attempt: s.Attempt, Direction: Direct,
		Visited: []feedring.GroupID{s.Group}, Hop: s.Hop})
}

func (m *Machine) tellFound(s Search) {
	m.send(s.Coordinator, FoundGroup{ID: s.ID, Attempt: s.Attempt, Group: s.Group, Direction: s.Direction, Hop: s.Hop})
}

// pass sends the search on along its arc, unless it found what it looked for.
func (m *Machine) pass(s Search, serves bool) {
	if serves {
		m.tellFound(s)
		if s.Theme != "" {
			return
		}
		s.Serving = append(slices.Clip(s.Serving), Serving{Group: s.Group, Hop: s.Hop})
	}
	s.Visited = append(slices.Clip(s.Visited), s.Group)
	m.forward(s)
}
