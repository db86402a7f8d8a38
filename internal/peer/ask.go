package peer

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer/internal/listing"
	"github.com/feedring/feedring/ring"
)

// ask is a reader's question that this peer must answer exactly once.
type ask struct {
	in       Ask
	until    time.Time // when the client is answered at the latest
	tries    int
	tried    []feedring.PeerID
	sent     Query // to the last of them
	to       feedring.PeerID
	accepted bool      // it said so, since it was last asked
	next     time.Time // when it is asked whether it is still there, or another one is tried
	fallback *feedring.Final
}

// askKey names an attempt by the client's own count.
type askKey ring.Attempt

func (k askKey) compare(o askKey) int { return ring.Attempt(k).Compare(ring.Attempt(o)) }

const (
	attemptShift = 6 // tries of one attempt: 32, two numbers each
	maxTries     = 32
	answerWithin = 500 * time.Millisecond // the patience with one peer
	checkEvery   = time.Second            // between looks whether a coordinator is there
	startPause   = 100 * time.Millisecond // before a peer that is still starting looks again
	defaultAsk   = 10 * time.Second
	maxAsk       = 10 * time.Minute

	maxGrants  = 4096 // of one final
	maxMissing = 4096
)

// ask takes a reader's question. The client is answered a little before it
// gives up, or the answer would come too late to be read.
func (m *Machine) ask(in Ask) {
	if in.Within <= 0 || in.Within > maxAsk {
		in.Within = defaultAsk
	}
	in.Attempt %= 1 << (32 - attemptShift)
	key := askKey{in.ID, in.Attempt}
	if m.asks[key] != nil || len(m.asks) >= maxAsks || m.asksOf[in.Client] >= maxAsksOf {
		m.emit(Answer{Stream: in.Stream, Final: feedring.Final{ID: in.ID, Attempt: in.Attempt,
			Status: feedring.Incomplete, Missing: m.unreached(in.Query.Theme)}})
		return
	}
	m.asksOf[in.Client]++
	m.asks[key] = &ask{in: in, until: m.now.Add(in.Within - min(in.Within/20, 250*time.Millisecond)), next: m.now}
	m.asking.Set(key, m.now)
}

func (a *ask) key() askKey { return askKey{a.in.ID, a.in.Attempt} }

func (a *ask) wakeAt() time.Time {
	if a.next.Before(a.until) {
		return a.next
	}
	return a.until
}

func (m *Machine) asksDue() {
	for _, key := range m.asking.PopAll(m.now, askKey.compare) {
		a := m.asks[key]
		switch {
		case a == nil:
		case !m.now.Before(a.until):
			m.giveUp(a)
		default:
			m.try(a)
			if m.asks[key] == a {
				m.asking.Set(key, a.wakeAt())
			}
		}
	}
}

// giveUp answers what is known at the deadline.
func (m *Machine) giveUp(a *ask) {
	if a.fallback != nil {
		m.answer(a, *a.fallback)
		return
	}
	m.answer(a, feedring.Final{Status: feedring.Incomplete, Missing: m.unreached(a.in.Query.Theme)})
}

// unreached names what a query without an answer did not reach.
func (m *Machine) unreached(theme feedring.Theme) []string {
	if theme != "" {
		return []string{string(theme)}
	}
	var missing []string
	for _, row := range m.ring.Live() {
		missing = append(missing, string(row.Theme))
	}
	if missing == nil {
		return []string{"the ring"}
	}
	return missing[:min(len(missing), maxMissing)]
}

// suggest is "did you mean", of the groups that this peer knows of.
func (m *Machine) suggest(theme feedring.Theme, provider string) []string {
	var groups []*group.View
	for _, it := range m.inOrder() {
		if it.settled() && (theme == "" || it.theme == theme) {
			groups = append(groups, m.seen(it))
		}
	}
	return listing.Suggest(theme, provider, m.ring.Live(), groups)
}

// try passes the question to a coordinator that was not tried yet. One that
// accepted is asked the same again first: while it is at work it accepts again,
// and only one that died with the question in its hands is replaced.
func (m *Machine) try(a *ask) {
	if a.accepted {
		a.accepted, a.next = false, m.now.Add(answerWithin)
		m.send(a.to, a.sent, false)
		return
	}
	candidates := m.coordinators(&a.in)
	to := firstNot(candidates, a.tried)
	if to == "" && len(candidates) > 0 { // all were tried: once more
		to = candidates[a.tries%len(candidates)]
	}
	switch {
	case to == "" && m.starting():
		a.next = m.now.Add(startPause)
	case to == "" && len(m.ring.Live()) > 0: // of groups that this peer led and left, whose others it does not reach
		m.answer(a, feedring.Final{Status: feedring.Incomplete, Missing: m.unreached(a.in.Query.Theme)})
	case to == "":
		m.answer(a, feedring.Final{Status: feedring.Unsatisfied, Suggest: m.suggest(a.in.Query.Theme, a.in.Query.Provider)})
	case a.tries >= maxTries:
		a.next = a.until
	default:
		m.askCoordinator(a, to)
	}
}

func (m *Machine) askCoordinator(a *ask, to feedring.PeerID) {
	q := Query{
		ID: a.in.ID, Attempt: a.in.Attempt<<attemptShift | uint32(2*a.tries), Client: a.in.Client,
		Theme: a.in.Query.Theme, Provider: a.in.Query.Provider, Since: a.in.Query.Since,
		Within: a.until.Sub(m.now),
	}
	if to != m.cfg.Self { // its final must come back in time
		q.Within -= min(q.Within/10, 100*time.Millisecond)
	}
	a.tries++
	if !slices.Contains(a.tried, to) {
		a.tried = append(a.tried, to)
	}
	a.sent, a.to, a.accepted = q, to, false
	a.next = m.now.Add(answerWithin)
	m.send(to, q, a.tries > 1)
}

func firstNot(of, not []feedring.PeerID) feedring.PeerID {
	for _, p := range of {
		if !slices.Contains(not, p) {
			return p
		}
	}
	return ""
}

// starting reports whether this peer may yet come to know of groups.
func (m *Machine) starting() bool {
	for _, it := range m.memberships {
		if !m.idle(it) {
			return true
		}
	}
	return m.cfg.Joining && (!m.joined || len(m.known) > 0 && !m.ring.Synced())
}

// idle reports whether a membership only waits for somebody to found its group:
// it leads to no coordinator, and nobody is known who could name one.
func (m *Machine) idle(it *membership) bool {
	return it.reads && it.phase == waiting && !it.leaving && (m.ring.Synced() || len(m.known) == 0) && len(m.joinVia(it)) == 0
}

// coordinators lists who may coordinate, best first: the manager of the theme's
// group where this peer is a member of it, else that of its lowest group, each
// before its secondary; a peer without groups asks a manager of its map.
func (m *Machine) coordinators(in *Ask) []feedring.PeerID {
	var list []feedring.PeerID
	if it := m.memberships[in.Query.Theme.Group()]; it.settled() {
		list = append(list, it.leaders()...)
		list = append(list, m.cfg.Self)
	}
	for _, it := range m.inOrder() {
		if it.settled() {
			list = append(list, it.leaders()...)
			list = append(list, m.cfg.Self)
		}
	}
	if len(list) == 0 {
		list = m.strangers(in)
	}
	return distinct(list)
}

// strangers lists the managers of the map: the theme's own first, and the
// others from a place that the question's id chooses, so that one manager does
// not coordinate for everybody.
func (m *Machine) strangers(in *Ask) []feedring.PeerID {
	var list []feedring.PeerID
	theme := in.Query.Theme
	if row, live, _ := m.ring.Row(theme.Group()); live && theme != "" && m.cfg.Routing == Shortcut {
		list = append(list, row.Term.Claimant, row.Secondary)
	}
	rows := m.ring.Live()
	for i := range rows {
		row := rows[(i+int(in.ID[0])<<8+int(in.ID[1]))%len(rows)]
		list = append(list, row.Term.Claimant, row.Secondary)
	}
	return slices.DeleteFunc(list, func(p feedring.PeerID) bool { return p == m.cfg.Self })
}

// distinct keeps the first of each peer that is somebody.
func distinct(peers []feedring.PeerID) []feedring.PeerID {
	seen := map[feedring.PeerID]bool{"": true}
	var kept []feedring.PeerID
	for _, p := range peers {
		if !seen[p] {
			seen[p] = true
			kept = append(kept, p)
		}
	}
	return kept
}

// accept gives the coordinator time.
func (m *Machine) accept(from feedring.PeerID, message Accepted) {
	a := m.asks[askKey{message.ID, message.Attempt >> attemptShift}]
	if a == nil || from != a.to || message.Attempt != a.sent.Attempt {
		return
	}
	a.accepted, a.next = true, m.now.Add(checkEvery)
	if from == m.cfg.Self {
		a.next = a.until
	}
	m.asking.Set(a.key(), a.wakeAt())
}

// final takes a coordinator's answer. What an earlier try left incomplete
// waits for the later one.
func (m *Machine) final(from feedring.PeerID, f feedring.Final) {
	a := m.asks[askKey{f.ID, f.Attempt >> attemptShift}]
	if a == nil || !slices.Contains(a.tried, from) || f.Status < feedring.Answered || f.Status > feedring.Incomplete {
		return
	}
	if f.Status == feedring.Incomplete && f.Attempt != a.sent.Attempt && m.now.Before(a.until) {
		a.fallback = &f
		return
	}
	m.answer(a, f)
}

// answer ends the question: the one place where an Answer is made.
func (m *Machine) answer(a *ask, f feedring.Final) {
	f.ID, f.Attempt = a.in.ID, a.in.Attempt
	delete(m.asks, a.key())
	m.asking.Cancel(a.key())
	discount(m.asksOf, a.in.Client)
	m.emit(Answer{Stream: a.in.Stream, Final: f})
}
