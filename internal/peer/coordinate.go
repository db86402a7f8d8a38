package peer

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/ring"
)

// job is one attempt of a query that this peer coordinates: it finds the
// groups that serve it, has each assign a provider, and sends one final.
type job struct {
	query    Query
	from     feedring.PeerID
	deadline time.Time
	number   uint32 // of the search under way: the query's, or one more after a shortcut that failed
	start    feedring.GroupID
	search   bool // the ring search is under way
	hops     int
	messages int
	missing  []string // from the ring search
	lookups  map[feedring.GroupID]*lookup
	unasked  []feedring.GroupID // of a query for all groups, in ring order
}

func (j *job) key() ring.Attempt { return ring.Attempt{ID: j.query.ID, Number: j.query.Attempt} }

// coordinate takes a question on. A peer without a ring entry does not: who asked
// goes on to the next.
func (m *Machine) coordinate(from feedring.PeerID, q Query) {
	key := ring.Attempt{ID: q.ID, Number: q.Attempt}
	start, ok := m.startGroup(q.Theme)
	if !ok || !validQuery(&q) || m.finished.Has(key) || m.jobs[key] == nil && !m.roomForJob(from) {
		return
	}
	m.send(from, Accepted{ID: q.ID, Attempt: q.Attempt}, false)
	if m.jobs[key] != nil {
		return
	}
	j := &job{query: q, from: from, deadline: m.now.Add(q.Within), number: q.Attempt, start: start,
		lookups: map[feedring.GroupID]*lookup{}}
	m.jobs[key] = j
	m.jobsFor[from]++
	m.start(j)
	m.settle(j)
}

// roomForJob reports whether one more question of from's is taken on. This
// peer's own clients have their bound where they ask.
func (m *Machine) roomForJob(from feedring.PeerID) bool {
	return len(m.jobs) < maxJobs && (from == m.cfg.Self || m.jobsFor[from] < maxJobsFor)
}

// discount counts one less, and forgets who has nothing.
func discount(of map[feedring.PeerID]int, p feedring.PeerID) {
	if of[p]--; of[p] <= 0 {
		delete(of, p)
	}
}

func validQuery(q *Query) bool {
	return q.Within > 0 && q.Within <= maxAsk && q.Client != "" && q.Attempt%2 == 0 &&
		len(q.Theme) <= feedring.MaxTheme && len(q.Provider) <= 253
}

// startGroup is where this peer stands on the ring for a query: the theme's own
// group, else the lowest that it manages, else the lowest that it is in.
func (m *Machine) startGroup(theme feedring.Theme) (feedring.GroupID, bool) {
	if it := m.memberships[theme.Group()]; it.settled() {
		return it.id, true
	}
	var lowest *membership
	for _, it := range m.inOrder() {
		if it.settled() && (lowest == nil || it.role == feedring.RoleManager && lowest.role != feedring.RoleManager) {
			lowest = it
		}
	}
	if lowest == nil {
		return feedring.GroupID{}, false
	}
	return lowest.id, true
}

// start chooses the way: the theme's own group where this peer is in it, since
// no other can have that theme; a shortcut; or the ring.
func (m *Machine) start(j *job) {
	theme := j.query.Theme
	own := m.memberships[theme.Group()]
	row, live, _ := m.ring.Row(theme.Group())
	switch {
	case theme == "" && m.cfg.Routing == Shortcut:
		m.placeEverywhere(j)
	case theme != "" && own.settled():
		m.lookUp(j, own.id, 0, false)
	case theme != "" && live && m.cfg.Routing == Shortcut && row.Term.Claimant != m.cfg.Self:
		j.hops, j.messages = 1, 2 // there and back
		m.lookUp(j, row.Group, 1, true)
	default:
		m.searchRing(j)
	}
}

// askedAtOnce is how many groups a query without a theme asks at the same time.
const askedAtOnce = 64

// placeEverywhere asks each group of the map, some at a time, and the own one first: it
// may not be on the map yet.
func (m *Machine) placeEverywhere(j *job) {
	for _, row := range m.ring.Live() {
		if row.Group != j.start && !row.Theme.IsFleet() {
			j.unasked = append(j.unasked, row.Group)
		}
	}
	m.lookUp(j, j.start, 0, false)
	m.settle(j)
}

// placeMore asks those whose turn it is. Who did not answer at once holds up nobody.
func (m *Machine) placeMore(j *job) {
	if len(j.unasked) == 0 {
		return
	}
	open := 0
	for _, p := range j.lookups {
		if !p.done && p.tries <= 1 {
			open++
		}
	}
	for ; open < askedAtOnce && len(j.unasked) > 0; open++ {
		g := j.unasked[0]
		j.unasked = j.unasked[1:]
		j.messages += 2
		j.hops = 1
		m.lookUp(j, g, 1, false)
	}
}

// searchRing starts the bidirectional search.
func (m *Machine) searchRing(j *job) {
	j.search = true
	m.stepRing(ring.Begin{ID: j.query.ID, Attempt: j.number, From: j.start, Theme: j.query.Theme,
		Provider: j.query.Provider, Within: max(j.deadline.Sub(m.now), 1)})
}

// jobOf finds the job of a search attempt.
func (m *Machine) jobOf(id feedring.QueryID, number uint32) *job {
	j := m.jobs[ring.Attempt{ID: id, Number: number &^ 1}]
	if j == nil || j.number != number {
		return nil
	}
	return j
}

// foundGroup is a hit: its manager is asked for a provider while a search over
// all groups goes on.
func (m *Machine) foundGroup(f ring.Found) {
	if j := m.jobOf(f.ID, f.Attempt); j != nil && j.search {
		m.lookUp(j, f.Group, f.Hops, false)
	}
}

// searchEnded takes the account of a search.
func (m *Machine) searchEnded(e ring.Ended) {
	j := m.jobOf(e.ID, e.Attempt)
	if j == nil || !j.search {
		return
	}
	j.search = false
	j.hops, j.messages = e.Hops, e.Messages
	for _, theme := range e.Missing {
		j.missing = append(j.missing, string(theme))
	}
	m.settle(j)
}

// settle sends the final once nothing is under way, or waits for the next that
// is late.
func (m *Machine) settle(j *job) {
	if m.jobs[j.key()] != j {
		return
	}
	m.working.Set(j.key(), j.wakeAt())
	if j.search {
		return
	}
	m.placeMore(j)
	for _, p := range j.lookups {
		if !p.done {
			return
		}
	}
	m.finish(j)
}

// finish is the one place where a coordinator makes its final.
func (m *Machine) finish(j *job) {
	delete(m.jobs, j.key())
	m.working.Cancel(j.key())
	discount(m.jobsFor, j.from)
	m.finished.Add(j.key())
	f := feedring.Final{ID: j.query.ID, Attempt: j.query.Attempt, Status: feedring.Unsatisfied,
		Missing: j.missing, Hops: j.hops, Messages: j.messages}
	served, farthest, size, hints := false, 0, 0, 0
	for _, g := range sorted(j.lookups, feedring.GroupID.Compare) {
		p := j.lookups[g]
		if size += grantsSize(p.grants); size > group.MaxGranted || len(f.Grants)+len(p.grants) > maxGrants {
			p.grants, p.missing, p.copies = nil, []string{string(p.theme)}, nil // one message has no room for it
		}
		for i := range p.grants {
			g := p.grants[i]
			if h := g.Hints; h != nil {
				if hints += hintSize * len(h.Copies); hints > maxHintsSize {
					g.Hints = nil
				}
			}
			f.Grants = append(f.Grants, g)
		}
		f.Missing = append(f.Missing, p.missing...)
		f.Copies = append(f.Copies, p.copies...)
		if p.served {
			served, farthest = true, max(farthest, p.hops)
		}
	}
	if served {
		f.Hops = farthest
	}
	if !served && len(f.Missing) == 0 && m.blind(j) {
		f.Missing = m.unreached(j.query.Theme)
	}
	switch {
	case len(f.Missing) > 0:
		f.Status = feedring.Incomplete
		slices.Sort(f.Missing)
		f.Missing = slices.Compact(f.Missing)
		f.Missing = f.Missing[:min(len(f.Missing), maxMissing)]
	case len(f.Grants) > 0:
		f.Status = feedring.Answered
	default:
		f.Suggest = m.suggest(j.query.Theme, j.query.Provider)
	}
	slices.Sort(f.Copies)
	f.Copies = f.Copies[:min(len(f.Copies), maxMissing)]
	m.send(j.from, Final{Final: f}, false)
}

// blind reports whether what this peer did not find may be there, where it is
// not of the theme's own group: it knows others and never had a map of theirs,
// or leads no group. Then it coordinates only because none of its leaders
// answered, and a map that is told each period may be some periods old.
func (m *Machine) blind(j *job) bool {
	if m.memberships[j.query.Theme.Group()].settled() {
		return false
	}
	return !m.ring.Synced() && (m.cfg.Joining || len(m.known) > 0) || !m.leads()
}

// leads reports whether this peer is the manager or the secondary of a group.
func (m *Machine) leads() bool {
	for _, it := range m.memberships {
		if it.role >= feedring.RoleSecondary {
			return true
		}
	}
	return false
}

// Hints of one final, beside its grants: what they take on the wire, each and in all.
const (
	hintSize     = 14
	maxHintsSize = 1 << 20
)

func grantsSize(grants []feedring.Grant) int {
	n := 0
	for i := range grants {
		n += group.GrantSize(&grants[i])
	}
	return n
}

func (j *job) wakeAt() time.Time {
	next := j.deadline
	for _, p := range j.lookups {
		if !p.done && p.until.Before(next) {
			next = p.until
		}
	}
	return next
}

func (m *Machine) jobsDue() {
	for _, key := range m.working.PopAll(m.now, ring.Attempt.Compare) {
		j := m.jobs[key]
		switch {
		case j == nil:
		case !m.now.Before(j.deadline):
			m.expire(j)
		default:
			m.placesDue(j)
		}
	}
}

// expire names at the deadline what was not reached.
func (m *Machine) expire(j *job) {
	for _, g := range sorted(j.lookups, feedring.GroupID.Compare) {
		if p := j.lookups[g]; !p.done {
			if p.done = true; len(p.grants) == 0 {
				p.missing = []string{string(p.theme)}
			}
		}
	}
	for _, g := range j.unasked {
		j.missing = append(j.missing, string(m.themeOf(g)))
	}
	if j.search {
		j.search = false
		j.missing = append(j.missing, m.unfound(j)...)
	}
	m.finish(j)
}

func (m *Machine) unfound(j *job) []string {
	if j.query.Theme != "" {
		return []string{string(j.query.Theme)}
	}
	var names []string
	for _, row := range m.ring.Live() {
		if j.lookups[row.Group] == nil && !row.Theme.IsFleet() {
			names = append(names, string(row.Theme))
		}
	}
	return names
}
