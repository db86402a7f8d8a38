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
	answered bool // by the leader
	served   bool
	grants   []feedring.Grant
	ranks    []int // of the managers that made them
	missing  []string
	copies   []string
	beside   []feedring.PeerID // displaced managers that are asked as well
	others   []feedring.PeerID // those of them that have still to answer
	patience time.Time         // until when they are waited for
}

// lookUp asks the manager of g for a provider: the first time.
func (m *Machine) lookUp(j *job, g feedring.GroupID, hops int, shortcut bool) {
	if j.lookups[g] != nil {
		return
	}
	p := &lookup{theme: m.themeOf(g), hops: hops, shortcut: shortcut}
	j.lookups[g] = p
	if p.theme.IsFleet() { // it has no feed, and answers nobody else
		p.done = true
		return
	}
	m.askManager(j, g, p)
	m.askIncumbents(j, g, p)
}

// askIncumbents asks those as well whom a higher number displaced on the map and who answer
// still: whoever signs a number could empty the answers of a theme otherwise.
func (m *Machine) askIncumbents(j *job, g feedring.GroupID, p *lookup) {
	if m.memberships[g].settled() {
		return // a member knows its manager
	}
	p.beside, p.patience = m.ring.Incumbents(g), m.now.Add(answerWithin)
	p.others = p.beside
	for _, to := range p.beside {
		p.asked = append(p.asked, to)
		j.messages += 2
		m.sendPlace(j, g, to, false)
	}
}

// end ends a lookup once all have answered whose answers it waits for. A displaced manager is
// waited for a moment only, and so is the leader once a displaced one gave somebody.
func (m *Machine) end(g feedring.GroupID, p *lookup) {
	late := !m.now.Before(p.patience)
	if late {
		for _, silent := range p.others {
			m.ring.Unanswered(g, silent)
		}
		p.others = nil
	}
	p.done = len(p.others) == 0 && (p.answered || late && len(p.grants) > 0)
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
	m.sendPlace(j, g, to, p.tries > 1)
}

func (m *Machine) sendPlace(j *job, g feedring.GroupID, to feedring.PeerID, fresh bool) {
	m.send(to, group.Place{
		Header: group.Header{Group: g, Term: m.termOf(g)},
		ID:     j.query.ID, Attempt: j.query.Attempt >> attemptShift, Client: j.query.Client,
		Provider: j.query.Provider, Since: j.query.Since, Within: j.deadline.Sub(m.now),
	}, fresh)
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
			if m.end(g, p); !p.done {
				m.askManager(j, g, p)
			}
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
		m.ring.Answered(answer.Group, from)
		p.take(from, m.ring.Rank(answer.Group, from), &answer)
		m.end(answer.Group, p)
		m.settle(j)
	}
}

// mostContested is how many grants of one manager count where a group has several.
const mostContested = 64

// take takes one answer in. Where two managers serve a group, what each grants counts. Of two grants of
// one provider that counts whose manager this peer knows for longer (rank): a ticket of the other may be
// one that the provider refuses. What is missing is for the leader to say, unless it serves nothing.
func (p *lookup) take(from feedring.PeerID, rank int, answer *group.Placed) {
	displaced := slices.Contains(p.beside, from)
	if displaced {
		p.others = slices.DeleteFunc(slices.Clone(p.others), func(o feedring.PeerID) bool { return o == from })
	} else {
		p.answered = true
	}
	grants := answer.Grants
	if len(p.beside) > 0 && len(grants) > mostContested {
		grants = grants[:mostContested]
	}
	if answer.Served && (!p.served || !displaced) || !displaced && !p.served {
		p.missing, p.copies = slices.Clone(answer.Missing), slices.Clone(answer.Copies)
	}
	p.served = p.served || answer.Served
	p.grants, p.ranks = slices.Clone(p.grants), slices.Clone(p.ranks)
	for _, g := range grants {
		switch i := slices.IndexFunc(p.grants, func(o feedring.Grant) bool { return o.Provider.ID == g.Provider.ID }); {
		case i < 0:
			p.grants, p.ranks = append(p.grants, g), append(p.ranks, rank)
		case rank < p.ranks[i]:
			p.grants[i], p.ranks[i] = g, rank
		}
	}
	if p.served && len(p.grants)+len(p.missing) == 0 { // it has the provider, and nobody has room
		p.missing = []string{string(p.theme)}
	}
}

// yielded takes the word of a displaced manager that another one leads its group.
func (m *Machine) yielded(from feedring.PeerID, s group.Stale) {
	g := s.Header.Group
	if !m.ring.Yielded(g, from, feedring.PeerInfo{ID: s.Claim.Term.Claimant, Addrs: s.Addrs}) {
		return
	}
	for _, key := range sorted(m.jobs, ring.Attempt.Compare) {
		j := m.jobs[key]
		if p := j.lookups[g]; p != nil && !p.done {
			p.others = slices.DeleteFunc(slices.Clone(p.others), func(o feedring.PeerID) bool { return o == from })
			m.end(g, p)
			m.settle(j)
		}
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
