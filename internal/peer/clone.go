package peer

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/clone"
	"github.com/feedring/feedring/internal/fingerprint"
	"github.com/feedring/feedring/ring"
)

// Clone returns a machine that goes on from the same state, random sources
// included.
func (m *Machine) Clone() *Machine {
	c := *m
	source := *m.source
	c.source, c.random = &source, rand.New(&source)
	c.ring = m.ring.Clone(serving{&c})
	c.memberships, c.order = clone.Map(m.memberships), nil
	for _, it := range c.memberships {
		it.group = it.group.Clone()
	}
	c.saved = m.saved.clone()
	c.known = slices.Clone(m.known)
	c.asks = clone.Map(m.asks)
	for _, a := range c.asks {
		a.tried = slices.Clone(a.tried)
	}
	c.asking, c.working = m.asking.Clone(), m.working.Clone()
	c.jobs = map[ring.Attempt]*job{}
	for k, j := range m.jobs {
		c.jobs[k] = j.clone()
	}
	c.finished, c.outsiders = m.finished.Clone(), m.outsiders.Clone()
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
	c.missing, c.unasked = slices.Clone(j.missing), slices.Clone(j.unasked)
	c.lookups = clone.Map(j.lookups)
	for _, p := range c.lookups {
		p.asked = slices.Clone(p.asked)
	}
	return &c
}

// Fingerprint is equal for machines in equal states, and hardly ever for
// others.
func (m *Machine) Fingerprint() uint64 { return fingerprint.Of(m) }
