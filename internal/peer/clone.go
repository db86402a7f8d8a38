package peer

import (
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// Clone returns a machine that goes on from the same state, random sources
// included.
func (m *Machine) Clone() *Machine {
	c := *m
	source := *m.source
	c.source, c.random = &source, rand.New(&source)
	c.ring = m.ring.Clone(c.test)
	c.memberships = map[feedring.GroupID]*membership{}
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
func (m *Machine) Fingerprint() uint64 {
	h := fnv.New64a()
	state, _ := m.source.MarshalBinary()
	h.Write(state)
	fmt.Fprintln(h, m.ring.Fingerprint(), m.addrs, m.known, m.joined, m.leaving.UnixNano(), m.departed)
	for _, g := range m.ids() {
		it := m.memberships[g]
		fmt.Fprintln(h, g, it.group.Fingerprint(), it.role, it.phase, it.next.UnixNano(),
			it.book, it.via, it.above, it.leaving, it.told.Term, it.told.Acknowledged)
	}
	for _, theme := range sorted(m.saved.Groups, compareThemes) {
		fmt.Fprintln(h, theme, m.saved.Groups[theme])
	}
	m.feedQueries(h)
	return h.Sum64()
}

func (m *Machine) feedQueries(w io.Writer) {
	for _, k := range sorted(m.asks, askKey.compare) {
		a := m.asks[k]
		fmt.Fprintln(w, k, a.until.UnixNano(), a.next.UnixNano(), a.tries, a.tried)
	}
	for _, k := range sorted(m.jobs, attempt.compare) {
		j := m.jobs[k]
		fmt.Fprintln(w, k, j.from, j.deadline.UnixNano(), j.number, j.search, j.hops, j.messages, j.missing)
		for _, g := range sorted(j.places, feedring.GroupID.Compare) {
			p := j.places[g]
			fmt.Fprintln(w, g, p.tries, p.until.UnixNano(), p.done, p.served)
		}
	}
}
