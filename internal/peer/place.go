package peer

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/ring"
)

// lookup is one group that is asked for a provider.
type lookup struct {
	theme    feedring.Theme
	hops     int
	shortcut bool // where nobody answers, the ring is searched
	tries    int
	asked    []feedring.PeerID
	until    time.Time
	done     bool
	served   bool
	grants   []feedring.Grant
	missing  []string
	copies   []string
}

// lookUp asks the manager of g for a provider: the first time.
func (m *Machine) lookUp(j *job, g feedring.GroupID, hops int, shortcut bool) {
	if j.lookups[g] != nil {
		return
	}
	p := &lookup{theme: m.themeOf(g), hops: hops, shortcut: shortcut}
	j.lookups[g] = p
	m.askManager(j, g, p)
}

func (m *Machine) themeOf(g feedring.GroupID) feedring.Theme {
	if it := m.memberships[g]; it != nil {
		return it.theme
	}
	row, _, _ := m.ring.Row(g)
	return row.Theme
}

// leadersOf names the manager and the secondary of any group.
func (m *Machine) leadersOf(g feedring.GroupID) []feedring.PeerID {
	if it := m.memberships[g]; it.settled() {
		return it.leaders()
	}
	row, _, known := m.ring.Row(g)
	if !known {
		return nil
	}
	return distinct([]feedring.PeerID{row.Term.Claimant, row.Secondary})
}

// askManager asks the manager, half a second later the secondary, and so on
// until the deadline: who follows a dead manager is there in little more than
// a refresh period.
func (m *Machine) askManager(j *job, g feedring.GroupID, p *lookup) {
	leaders := m.leadersOf(g)
	p.until = m.now.Add(answerWithin)
	if at := m.working.At(j.key()); at.IsZero() || p.until.Before(at) {
		m.working.Set(j.key(), p.until)
	}
	if len(leaders) == 0 {
		if p.tries++; p.tries > 2 { // it vanished from the map, and holds nobody up
			p.done = true
			if p.theme != "" {
				p.missing = []string{string(p.theme)}
			}
		}
		return
	}
	if p.shortcut && p.tries >= len(leaders) {
		m.shortcutFailed(j, g)
		return
	}
	to := leaders[p.tries%len(leaders)]
	p.tries++
	if !slices.Contains(p.asked, to) {
		p.asked = append(p.asked, to)
	}
	m.send(to, group.Place{
		Header: group.Header{Group: g, Term: m.termOf(g)},
		ID:     j.query.ID, Attempt: j.query.Attempt >> attemptShift, Client: j.query.Client,
		Provider: j.query.Provider, Since: j.query.Since, Within: j.deadline.Sub(m.now),
	}, p.tries > 1)
}

func (m *Machine) termOf(g feedring.GroupID) feedring.Term {
	if it := m.memberships[g]; it != nil {
		return it.group.Lead().Term
	}
	row, _, _ := m.ring.Row(g)
	return row.Term
}

// shortcutFailed starts over with the paper's search, as a new attempt.
func (m *Machine) shortcutFailed(j *job, g feedring.GroupID) {
	delete(j.lookups, g)
	j.number++
	j.hops, j.messages = 0, 0
	m.searchRing(j)
}

// mayPlace reports whether from may have a lookup done in a group: peers with a ring
// entry and members of the group coordinate queries. Others have a small quota.
func (m *Machine) mayPlace(it *membership, from feedring.PeerID) bool {
	return from == m.cfg.Self || m.ring.HasEntry(from) || it.settled() && it.group.Has(from) || m.outsiders.Take(from, m.now)
}

func (m *Machine) placesDue(j *job) {
	for _, g := range sorted(j.lookups, feedring.GroupID.Compare) {
		if p := j.lookups[g]; p != nil && !p.done && !m.now.Before(p.until) {
			m.askManager(j, g, p)
		}
	}
	m.settle(j)
}

// placed takes a manager's answer to Place.
func (m *Machine) placed(from feedring.PeerID, answer group.Placed) {
	for _, key := range m.jobsOf(answer.ID, answer.Attempt) {
		j := m.jobs[key]
		p := j.lookups[answer.Group]
		if p == nil || p.done || !slices.Contains(p.asked, from) {
			continue
		}
		p.done, p.served = true, answer.Served
		p.grants, p.missing, p.copies = answer.Grants, answer.Missing, answer.Copies
		if p.served && len(p.grants)+len(p.missing) == 0 { // it has the provider, and nobody has room
			p.missing = []string{string(p.theme)}
		}
		m.settle(j)
	}
}

// jobsOf finds the attempts of this peer that belong to one of the client's.
func (m *Machine) jobsOf(id feedring.QueryID, client uint32) []ring.Attempt {
	var keys []ring.Attempt
	for try := range uint32(maxTries) {
		key := ring.Attempt{ID: id, Number: client<<attemptShift | 2*try}
		if m.jobs[key] != nil {
			keys = append(keys, key)
		}
	}
	return keys
}
