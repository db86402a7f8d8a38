package ring

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring/internal/arcs"
	"github.com/feedring/feedring/ring/internal/message"
)

const (
	maxSearches  = 10_000
	arcPatience  = 1500 * time.Millisecond // then unvisited groups are asked directly …
	hopAllowance = 20 * time.Millisecond   // … and so much more for each hop of the arc
)

// search is one attempt that this peer coordinates.
type search struct {
	begin    Begin
	deadline time.Time
	patience time.Time // when the arcs are given up
	again    time.Time // when groups are asked directly again; zero: not yet
	arcs     []*arcState
	visited  map[feedring.GroupID]bool
	found    map[feedring.GroupID]int // at which depth
	direct   map[feedring.GroupID]*direct
	deepest  int
	counted  int // FOUND and EXHAUSTED received, and direct forwards
}

// arcState is one arc as the coordinator knows it.
type arcState struct {
	direction Direction
	hop       int // forwards known of
	ended     bool
}

// begin starts a search at depth 0, the coordinator's own group.
func (m *Machine) begin(b Begin) {
	key := Attempt{b.ID, b.Attempt}
	if m.searches[key] != nil || len(m.searches) >= maxSearches || b.Within <= 0 {
		m.emit(Ended{ID: b.ID, Attempt: b.Attempt, Missing: m.themes(m.ringMap.Order())})
		return
	}
	b.Within = min(b.Within, message.MaxWithin)
	s := &search{begin: b, deadline: m.now.Add(b.Within),
		visited: map[feedring.GroupID]bool{b.From: true}, found: map[feedring.GroupID]int{},
		direct: map[feedring.GroupID]*direct{}}
	m.searches[key] = s
	serves, member := m.cfg.Memberships.Serves(b.From, b.Provider)
	m.visits.add(visitKey{key, b.From}, &visited{serves: serves, passed: [Direct + 1]bool{true, true, true, true}})
	if serves && member && (b.Theme == "" || b.Theme.Group() == b.From) {
		m.note(s, b.From, 0)
		if b.Theme != "" {
			m.end(s)
			return
		}
	}
	m.sendArcs(s)
	m.settle(s)
}

func (m *Machine) sendArcs(s *search) {
	order := m.ringMap.Order()
	halves := arcs.Cut(order, s.begin.From)
	wait := min(arcPatience+time.Duration(len(order)/2)*hopAllowance, s.begin.Within/2)
	s.patience = m.now.Add(wait)
	for _, a := range halves {
		s.arcs = append(s.arcs, &arcState{direction: a.Direction, hop: 1})
		m.forward(Search{ID: s.begin.ID, Attempt: s.begin.Attempt, Coordinator: m.cfg.Self,
			Group: s.begin.From, Origin: a.Origin, End: a.End, Direction: a.Direction,
			C: a.C, HopLimit: message.HopLimit(len(order)), Theme: s.begin.Theme, Provider: s.begin.Provider,
			Within: s.begin.Within})
	}
}

// onFound is FOUND. The first hit ends a search with a theme.
func (m *Machine) onFound(f FoundGroup) {
	s := m.searches[Attempt{f.ID, f.Attempt}]
	if s == nil || !f.Valid() {
		return
	}
	if _, known := s.found[f.Group]; known {
		return
	}
	m.serving(s, f.Direction, Serving{Group: f.Group, Hop: f.Hop})
	if s.begin.Theme != "" {
		m.end(s)
		return
	}
	m.settle(s)
}

// serving counts one FOUND, that came or that an EXHAUSTED tells of.
func (m *Machine) serving(s *search, d Direction, it Serving) {
	s.counted++
	s.reached(d, it.Hop)
	s.visited[it.Group] = true
	m.note(s, it.Group, it.Hop)
}

func (m *Machine) note(s *search, g feedring.GroupID, hops int) {
	s.found[g] = hops
	m.emit(Found{ID: s.begin.ID, Attempt: s.begin.Attempt, Group: g, Hops: hops})
}

// onExhausted is EXHAUSTED: the groups that it names were visited.
func (m *Machine) onExhausted(e Exhausted) {
	s := m.searches[Attempt{e.ID, e.Attempt}]
	if s == nil || !e.Valid() || s.over(e) {
		return
	}
	s.counted++
	s.reached(e.Direction, e.Hop)
	for _, g := range e.Visited {
		s.visited[g] = true
	}
	for _, it := range e.Serving {
		if _, known := s.found[it.Group]; !known && s.begin.Theme == "" && it.Hop >= 1 && it.Hop <= e.Hop {
			m.serving(s, e.Direction, it)
		}
	}
	if half := s.half(e.Direction); half != nil {
		half.ended = true
	}
	m.settle(s)
}

// over reports whether e tells nothing new.
func (s *search) over(e Exhausted) bool {
	if half := s.half(e.Direction); half != nil {
		return half.ended
	}
	return !slices.ContainsFunc(e.Visited, func(g feedring.GroupID) bool { return !s.visited[g] })
}

func (s *search) half(d Direction) *arcState {
	for _, h := range s.arcs {
		if h.direction == d {
			return h
		}
	}
	return nil
}

func (s *search) reached(d Direction, hop int) {
	s.deepest = max(s.deepest, hop)
	if h := s.half(d); h != nil {
		h.hop = max(h.hop, hop)
	}
}

// settle ends s where everything in view was visited, and asks directly for
// what the arcs left out.
func (m *Machine) settle(s *search) {
	rest := m.unvisited(s)
	done := !slices.ContainsFunc(s.arcs, func(h *arcState) bool { return !h.ended })
	switch {
	case len(rest) == 0 && (done || !m.now.Before(s.patience)), !m.now.Before(s.deadline):
		m.end(s)
	case done || !m.now.Before(s.patience):
		m.askDirect(s, rest)
	}
}

// end is the one end of a search.
func (m *Machine) end(s *search) {
	key := Attempt{s.begin.ID, s.begin.Attempt}
	delete(m.searches, key)
	for k := range m.hops {
		if k.attempt == key && m.hops[k].message.Coordinator == m.cfg.Self {
			delete(m.hops, k)
		}
	}
	ended := Ended{ID: key.ID, Attempt: key.Number, Found: slices.SortedFunc(maps.Keys(s.found), feedring.GroupID.Compare), Hops: s.deepest, Messages: s.counted}
	for _, h := range s.arcs {
		ended.Messages += h.hop
	}
	if len(s.found) > 0 {
		ended.Hops = 0
		for _, hops := range s.found {
			ended.Hops = max(ended.Hops, hops)
		}
	}
	if s.begin.Theme == "" || len(s.found) == 0 {
		ended.Missing = m.themes(m.unvisited(s))
	}
	m.emit(ended)
}

func (m *Machine) themes(groups []feedring.GroupID) []feedring.Theme {
	var names []feedring.Theme
	for _, g := range groups {
		names = append(names, m.ringMap.At(g).Effective().Row.Theme)
	}
	return names
}

func (s *search) wakeAt() time.Time {
	next := s.patience
	if !s.again.IsZero() {
		next = s.again
	}
	if s.deadline.Before(next) {
		return s.deadline
	}
	return next
}

func (m *Machine) searchesDue() {
	for _, key := range dueKeys(m.searches, m.now, Attempt.Compare) {
		if s := m.searches[key]; s != nil {
			m.settle(s)
		}
	}
}
