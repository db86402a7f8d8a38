package peer

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/fingerprint"
)

// Clone returns a machine that goes on from the same state, random sources
// included.
func (m *Machine) Clone() *Machine {
	c := *m
	source := *m.source
	c.source, c.random = &source, rand.New(&source)
	c.ring = m.ring.Clone(c.test)
	c.memberships, c.order = map[feedring.GroupID]*membership{}, nil
	for g, it := range m.memberships {
		copied := *it
		copied.group = it.group.Clone()
		c.memberships[g] = &copied
	}
	c.saved = m.saved.clone()
	c.known = slices.Clone(m.known)
	c.asks = map[askKey]*ask{}
	for k, a := range m.asks {
		copied := *a
		copied.tried = slices.Clone(a.tried)
		c.asks[k] = &copied
	}
	c.asking, c.working = m.asking.Clone(), m.working.Clone()
	c.jobs = map[attempt]*job{}
	for k, j := range m.jobs {
		c.jobs[k] = j.clone()
	}
	c.finished = finished{seen: maps.Clone(m.finished.seen), order: slices.Clone(m.finished.order), next: m.finished.next}
	c.unseated = m.unseated.clone()
	c.asksOf, c.jobsFor = maps.Clone(m.asksOf), maps.Clone(m.jobsFor)
	c.beside = slices.Clone(m.beside)
	c.self, c.rivals, c.out = slices.Clone(m.self), slices.Clone(m.rivals), nil
	return &c
}

// clone shares what is replaced as a whole only.
func (s State) clone() State {
	c := State{Groups: map[feedring.Theme]group.State{}, Heads: map[feedring.Theme][]feedring.Head{}}
	maps.Copy(c.Groups, s.Groups)
	maps.Copy(c.Heads, s.Heads)
	return c
}

func (j *job) clone() *job {
	c := *j
	c.missing = slices.Clone(j.missing)
	c.places = map[feedring.GroupID]*place{}
	for g, p := range j.places {
		copied := *p
		copied.asked = slices.Clone(p.asked)
		c.places[g] = &copied
	}
	return &c
}

// Fingerprint is equal for machines in equal states, and hardly ever for
// others.
func (m *Machine) Fingerprint() uint64 { return fingerprint.Of(m) }
