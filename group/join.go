package group

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/holdings"
	"github.com/feedring/feedring/internal/times"
)

// joining is the way into a group.
type joining struct {
	active  bool
	via     []feedring.PeerID
	nextVia int
	heard   time.Time // the last answer, or the beginning
	sent    time.Time // the last Join, for measuring
	to      feedring.PeerID
	yieldAt time.Time     // a peer with a lower id was looking for the group as well
	above   uint64        // a founder's number is above this one, which the map shows
	rival   feedring.Term // whom a manager joins, acknowledged as the map has it; zero: none
}

func (j *joining) asked(p feedring.PeerID) bool { return j.active && slices.Contains(j.via, p) }

// establish makes this peer the manager of a group of its own. A manager claims
// anew where the map has a dead row above its number, which would hide it.
func (m *Machine) establish(above uint64) {
	hidden := m.lead.serving && above >= m.lead.claim.Term.Number
	if m.leaving || m.live() && !hidden || m.saving.purpose == forClaim || hidden && !m.outbids(above) {
		return
	}
	m.joining = joining{}
	m.timers.Cancel(timerKey{kind: timerJoin})
	m.claim(above)
}

// enter begins to join, or goes on with what is known by now.
func (m *Machine) enter(in Enter) {
	if m.leaving || !m.lead.serving && !m.lead.claim.Term.IsZero() || m.saving.purpose == forClaim {
		return
	}
	began := m.joining.heard
	if !m.joining.active {
		began = m.now
	}
	m.joining = joining{active: true, heard: began, yieldAt: m.joining.yieldAt, above: in.Above}
	for _, p := range in.Via {
		m.joining.add(p, m.cfg.Self)
	}
	if len(m.joining.via) == 0 {
		m.joining = joining{}
		return
	}
	if m.disk.Incarnation != m.want.Incarnation && m.saving.purpose != forAdoption {
		m.save(saving{purpose: forStart})
		return
	}
	m.joinNext() // where a claim waits for the disk it is followed first, and this peer asks a beat later
}

func (j *joining) add(p, self feedring.PeerID) {
	if p != "" && p != self && !slices.Contains(j.via, p) && len(j.via) < maxVia {
		j.via = append(j.via, p)
	}
}

// askAdmission goes on asking the manager until it answers.
func (m *Machine) askAdmission() {
	m.joining = joining{active: true, heard: m.now, via: []feedring.PeerID{m.manager()}}
	m.joinNext()
}

// joinNext asks the next of those that may admit this peer.
func (m *Machine) joinNext() {
	j := &m.joining
	if !j.active {
		return
	}
	alone := m.lead.claim.Term.IsZero()
	if silent := m.now.Sub(j.heard); alone && silent >= 2*m.cfg.Refresh {
		// Of several that look for one another, the lowest founds.
		if silent >= 4*m.cfg.Refresh || j.yieldAt.IsZero() || m.now.Sub(j.yieldAt) >= m.cfg.Refresh {
			m.establish(j.above)
			return
		}
	}
	if m.lead.serving && m.now.Sub(j.heard) >= 2*m.cfg.Refresh {
		m.joining = joining{}
		return
	}
	to := m.manager()
	if alone || m.lead.serving {
		to = j.via[j.nextVia%len(j.via)]
		j.nextVia++
	}
	j.to = ""
	m.sendJoin(to)
	m.after(timerJoin, m.beatEvery())
}

// sendJoin asks p for admission, in the term that this peer has accepted: a manager below it claims above it.
func (m *Machine) sendJoin(p feedring.PeerID) {
	j := &m.joining
	if m.leaving || p == m.cfg.Self || j.to == p && m.now.Sub(j.sent) < m.beatEvery() || m.disk.Incarnation != m.want.Incarnation {
		return // the incarnation is on disk before anybody hears of it
	}
	j.to, j.sent = p, m.now
	m.send(p, Join{Header: Header{Group: m.group, Term: m.disk.Term}, Row: *m.me().row})
}

// onManagerNamed: a peer that was asked names the manager.
func (m *Machine) onManagerNamed(from feedring.PeerID, s Stale) {
	j, t := &m.joining, s.Claim.Term
	if !j.asked(from) {
		return
	}
	if m.lead.serving { // the rival is no manager any more, or names another
		switch {
		case t == m.lead.claim.Term:
			m.joining = joining{}
		case s.Acknowledged && t.Claimant != "" && (t.Compare(m.lead.claim.Term) > 0 || !m.lead.acked):
			j.add(t.Claimant, m.cfg.Self)
			m.sendJoin(t.Claimant)
		}
		return
	}
	j.heard = m.now
	m.onNumber(t.Number)
	if m.lead.claim.Term.IsZero() && t.Claimant != "" && !slices.Contains(j.via, t.Claimant) {
		j.add(t.Claimant, m.cfg.Self)
		m.sendJoin(t.Claimant)
	}
}

func (m *Machine) onJoin(in Receive, j Join) {
	from := in.From
	if m.joining.active && m.lead.claim.Term.IsZero() && from < m.cfg.Self {
		m.joining.yieldAt = m.now
	}
	if m.lead.claim.Term.IsZero() || j.Row.Peer == m.cfg.Self || !j.Row.Valid(m.group) || m.leaving {
		return
	}
	if j.Row.Peer == from && m.joining.deniedBy(from, j.Header.Term) {
		m.joining = joining{}
	}
	if t := m.lead.claim.Term; m.lead.serving && m.joining.active && j.Header.Term != t && (!m.lead.acked || j.Header.Term.Compare(t) > 0) {
		return // about to follow another manager, who will admit it, unless it has accepted this one's claim
	}
	if !m.lead.serving {
		if from == m.manager() && j.Row.Peer == from {
			m.abandoned()
			return
		}
		m.sendStale(from)
		if j.Row.Peer == from && m.manager() != from {
			m.send(m.manager(), j)
		}
		return
	}
	if t := j.Header.Term; j.Row.Peer == from && t.Compare(m.lead.claim.Term) > 0 {
		m.outbid(t)
		return
	}
	m.admit(in, &j.Row)
}

// deniedBy reports whether p, which asks for admission with the term that it has accepted, is the rival that a manager
// joins, and does not manage any more. A manager that is acknowledged asks nobody but one that is so above it, so p
// started again, with its acknowledged term or without. Only a member gives its row back.
func (j *joining) deniedBy(p feedring.PeerID, accepted feedring.Term) bool {
	return p == j.rival.Claimant && accepted.Compare(j.rival) <= 0
}

// abandoned: the manager asks to be admitted, so it started again, or it tells that it follows another one: it manages
// nothing. The group does not wait for it to be silent.
func (m *Machine) abandoned() {
	m.lead.heard = times.Earlier(m.lead.heard, m.now.Add(-3*m.cfg.Refresh))
	m.watch()
}

// outbid claims above a term that a peer has accepted and that this manager never heard of: the
// peer could not follow otherwise. What is further away than the others would follow takes several claims.
func (m *Machine) outbid(t feedring.Term) {
	if t.Number >= maxNumber || m.now.Sub(m.lead.since) < m.beatEvery() || m.saving.purpose != forNothing || !m.support.MayOutbid(m.now) {
		return
	}
	m.claim(m.followable(t.Number))
}

func (m *Machine) admit(in Receive, r *Row) {
	mem := m.members[r.Peer]
	if mem == nil {
		m.onNewcomer(in, r)
		return
	}
	news := m.mergeOf(in.From, r)
	m.onReturn(mem)
	m.sendAdmitted(r, mem.row)
	if news && !mem.row.Admitted.IsZero() {
		m.spreadRows([]feedring.PeerID{r.Peer}, r.Peer)
	}
}

// sendAdmitted answers a peer that asked with r, of which known is the newest row here.
func (m *Machine) sendAdmitted(r, known *Row) {
	at := known.Admitted
	if at.IsZero() {
		at = m.now.UTC().Truncate(time.Millisecond)
	}
	rows := make([]*Row, 0, len(m.members))
	for _, p := range append([]feedring.PeerID{m.cfg.Self}, m.everybody()...) {
		if p != r.Peer || catalogue.Compare(known, r) > 0 { // it lost what it once said: it goes on above
			rows = append(rows, m.members[p].row)
		}
	}
	if known.Left { // so of its tombstone, below which nobody would take its row
		rows = append(rows, known)
	}
	n := catalogue.Within(rows)
	heads, _ := m.replicator.After(feedring.FeedRef{})
	m.send(r.Peer, Admitted{
		Header: m.header(), Claim: m.lead.claim, Secondary: m.lead.secondary,
		Admitted: at, Rows: rows[:n:n], Heads: heads,
	})
	m.sendRows(r.Peer, rows[n:])
}

func (m *Machine) onAdmitted(in Receive, a Admitted) {
	if in.From != a.Claim.Term.Claimant { // nobody else admits, or shows by it that the manager lives
		return
	}
	if !m.joining.active && m.term() != a.Claim.Term || len(a.Rows) > maxRows || len(a.Heads) > maxItems || m.leaving {
		return
	}
	if m.joining.to == in.From {
		m.health.Measure(m.now, m.joining.sent)
	}
	m.joining.heard = m.now
	for _, r := range a.Rows {
		if r.Peer == in.From || r.Peer == m.cfg.Self {
			m.mergeOf(in.From, r)
		}
	}
	if mem := m.members[in.From]; mem != nil {
		m.admitter.Met(mem.row, in.Prefix)
	}
	m.askPeersOf(in.From, a.Rows)
	if !m.consider(a.Claim, true, in) {
		return
	}
	for _, r := range a.Rows {
		m.mergeOf(in.From, r)
	}
	m.joining = joining{}
	m.timers.Cancel(timerKey{kind: timerJoin})
	m.lead.secondary, m.lead.heard = a.Secondary, m.now
	m.admitted(a)
}

// admitted begins the membership, or its continuation under another manager.
func (m *Machine) admitted(a Admitted) {
	more := holdings.Full(a.Heads)
	if more {
		m.replicator.Sync(m.manager(), a.Heads[len(a.Heads)-1].Feed)
	}
	m.newRow(func(r *Row) {
		if r.Admitted.IsZero() {
			r.Admitted = a.Admitted
		}
		if m.want.From.IsZero() || more {
			r.From = upTo(times.Later(m.now, m.want.Dropped))
		} else {
			r.From = m.restoredMark()
		}
	})
	m.replicator.Admitted(a.Heads, m.manager())
	m.updateExceptions()
	m.announceRow()
	m.replicator.Enter()
	m.answerBeacon(0)
	m.watch()
}

// rival hears of another manager of this group.
func (m *Machine) rival(r Rival) {
	if r.Term.Claimant == m.cfg.Self && r.Term.Number > m.want.Highest {
		m.onOwnIdentity()
	}
	if r.Above <= maxUnknown {
		m.mapped = max(m.mapped, r.Above)
	}
	m.onNumber(r.Term.Number)
	if !m.lead.serving || m.leaving || r.Term.Claimant == "" || r.Term.Claimant == m.cfg.Self || m.joining.active {
		return
	}
	higher := r.Term.Compare(m.lead.claim.Term) > 0
	if r.Acknowledged && (higher || !m.lead.acked) || !r.Acknowledged && !m.lead.acked && higher {
		m.enter(Enter{Via: append([]feedring.PeerID{r.Term.Claimant}, r.Peers...)})
		if m.joining.active && r.Acknowledged {
			m.joining.rival = r.Term
			if m.outbids(r.Term.Number) {
				m.support.Meet(r.Term, m.now)
			}
		}
	}
}
