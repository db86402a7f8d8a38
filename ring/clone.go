package ring

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/clone"
	"github.com/feedring/feedring/internal/fingerprint"
)

// Clone returns a machine that goes on from the same state, random source
// included, and looks into memberships by test. Rows are shared: nobody
// changes one.
func (m *Machine) Clone(of Memberships) *Machine {
	c := *m
	c.cfg.Memberships = of
	source := *m.source
	c.source, c.random = &source, rand.New(&source)
	c.out = nil
	c.ringMap = m.ringMap.Clone()
	c.gossip = m.gossip.clone()
	c.proofs = m.proofs.Clone()
	c.points = slices.Clone(m.points)
	c.entries = clone.Map(m.entries)
	c.withdrawn = maps.Clone(m.withdrawn)
	c.watched = clone.Map(m.watched)
	c.incumbents = map[feedring.GroupID][]incumbent{}
	for g, list := range m.incumbents {
		c.incumbents[g] = slices.Clone(list)
	}
	c.visits = visits{seen: clone.Map(m.visits.seen), order: slices.Clone(m.visits.order), next: m.visits.next}
	c.hops = clone.Map(m.hops)
	for _, h := range c.hops {
		h.tried = slices.Clone(h.tried)
	}
	c.searches = map[Attempt]*search{}
	for k, s := range m.searches {
		c.searches[k] = s.clone()
	}
	return &c
}

func (g *gossip) clone() gossip {
	d := *g
	d.met = slices.Clone(g.met)
	d.pulls = maps.Clone(g.pulls)
	d.news = maps.Clone(g.news)
	d.heard = maps.Clone(g.heard)
	return d
}

func (s *search) clone() *search {
	d := *s
	d.arcs = nil
	for _, h := range s.arcs {
		copied := *h
		d.arcs = append(d.arcs, &copied)
	}
	d.visited = maps.Clone(s.visited)
	d.found = maps.Clone(s.found)
	d.direct = clone.Map(s.direct)
	return &d
}

// Fingerprint is equal for machines in equal states, and hardly ever for
// others.
func (m *Machine) Fingerprint() uint64 { return fingerprint.Of(m) }
