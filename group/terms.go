package group

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// terms is what this peer has accepted, on disk and on its way there.
type terms struct {
	disk   State // accepted: what Persisted last told
	want   State // what the last Persist put there
	token  uint64
	saving saving
	seen   uint64 // highest number that anybody told
	mapped uint64 // highest number that the ring map shows of the group, up to maxUnknown

	formerAdmission time.Time // when this peer was admitted, by a row that it does not remember
}

// purpose says what a saved state is for.
type purpose uint8

const (
	forNothing  purpose = iota
	forStart            // the incarnation: Join may be sent
	forClaim            // the number: this peer may serve
	forAck              // another peer follows: the own term is accepted
	forAdoption         // another's term is accepted
)

// saving is what waits for the disk. A higher term replaces what waits.
type saving struct {
	purpose purpose
	claim   Claim
	message Receive // which brought the claim; it is taken up again
}

func (m *Machine) save(s saving) {
	if s.purpose != forNothing {
		m.saving = s
	}
	m.token++
	m.emit(Persist{Group: m.group, Token: m.token, State: m.want})
}

func (m *Machine) persisted(token uint64) {
	if token != m.token {
		return
	}
	m.disk = m.want
	m.beginIncarnation()
	if m.leaving && m.lead.serving && m.saving.purpose == forAdoption {
		m.done() // the successor claimed
		return
	}
	s := m.saving
	m.saving = saving{}
	switch s.purpose {
	case forStart:
		if m.joining.active {
			m.joinNext()
		}
	case forClaim:
		if s.claim.Term.Compare(m.disk.Term) > 0 && !m.leaving {
			m.serve(s.claim.Term)
		}
	case forAck:
		if rival, met := m.support.Rival(m.now); met && m.accepted() { // it is to learn of the claim above its own
			m.sendAs(rival, m.beaconNow(), true)
		}
	case forAdoption:
		m.follow(s.claim)
		if s.message.Message != nil {
			m.receive(s.message)
		}
	}
}

// claim begins to take the manager's place, under a number above all known
// ones. The number is on disk before it is told.
func (m *Machine) claim(above uint64) {
	n := max(m.want.Highest, m.want.Term.Number, m.seen)
	if m.lead.serving && (m.lead.acked || m.renewed()) {
		n = m.followable(n)
	}
	if m.outbids(above) {
		n = max(n, above)
	}
	n = min(n+1, maxNumber)
	if n <= m.want.Highest || m.saving.purpose == forAdoption {
		return // no number is left, or another claim waits for the disk, which then holds
	}
	m.want.Highest = n
	m.save(saving{purpose: forClaim, claim: Claim{Group: m.group, Term: feedring.Term{Number: n, Claimant: m.cfg.Self}}})
}

// followable is n, or the highest number above which a manager may claim if its followers know no more
// than its claim and the map: what somebody told it alone moves none of them.
func (m *Machine) followable(n uint64) uint64 {
	return min(n, max(m.lead.claim.Term.Number, m.mapped)+maxJump-1)
}

// outbids reports whether this peer may claim above a number that the map shows: any that a newcomer would take, or
// what is a jump away at most. Others follow, since their maps show it too.
func (m *Machine) outbids(above uint64) bool {
	return above <= maxUnknown || above <= max(m.want.Highest, m.want.Term.Number, m.seen)+maxJump
}

// consider decides what a claim that arrived means. It returns true where the claim is the one that is followed, so
// that the message may be obeyed. A claim to be adopted goes to disk first, and its message comes again.
func (m *Machine) consider(c Claim, acked bool, in Receive) bool {
	t := c.Term
	if c.Group != m.group || t.IsZero() || !sealedBy(c.Seal, t.Claimant) {
		return false
	}
	if m.me().row.Incarnation > m.disk.Incarnation {
		return false // an answer to an earlier life: following it would tell the incarnation
	}
	switch {
	case t == m.lead.claim.Term:
		return !m.lead.serving
	case t.Claimant == m.cfg.Self:
		if t.Number > m.want.Highest {
			m.onOwnIdentity()
		}
		m.onOwnClaim(t, in.From)
		return false
	case m.saving.purpose == forAdoption && t.Compare(m.saving.claim.Term) <= 0:
		if _, admitted := in.Message.(Admitted); admitted && t == m.saving.claim.Term {
			m.saving.message = in // it tells how far each feed goes, which a beacon does not
		}
		return false
	case !m.credible(t, in):
		return false
	}
	m.seen = max(m.seen, t.Number)
	if !m.prefers(t, acked, in.From) {
		m.refuse(t, acked, in)
		return false
	}
	if t == m.disk.Term {
		m.follow(c)
		return true
	}
	if t.Compare(m.want.Term) < 0 {
		return false
	}
	m.want.Term, m.want.Highest = t, max(m.want.Highest, t.Number)
	m.save(saving{purpose: forAdoption, claim: c, message: in})
	return false
}

// credible checks who claims, and that the number does not jump.
func (m *Machine) credible(t feedring.Term, in Receive) bool {
	mem := m.members[t.Claimant]
	if mem == nil {
		if _, isStale := in.Message.(Stale); !isStale {
			m.sendStale(in.From)
		}
		m.wantRows(in.From)
		if b, is := in.Message.(Beacon); is && b.Acknowledged > 0 && in.From == t.Claimant && m.lead.serving && !m.lead.acked {
			m.enter(Enter{Via: []feedring.PeerID{t.Claimant}}) // started again without a catalogue, beside a manager
			return false
		}
		if m.joining.active && m.lead.claim.Term.IsZero() && in.From == t.Claimant {
			m.joining.add(t.Claimant, m.cfg.Self)
			m.sendJoin(t.Claimant) // whoever is looked for has spoken
		}
		return false
	}
	if m.isNewcomer() {
		return t.Number <= maxUnknown
	}
	return t.Number <= maxNumber && t.Number <= max(m.want.Highest, m.seen, m.joining.above, m.mapped)+maxJump
}

// onNumber hears of a number that is in use, by no signed claim: nobody can make it rise by more than a jump at a time.
func (m *Machine) onNumber(n uint64) {
	m.seen = min(maxNumber, max(m.seen, min(n, m.seen+maxJump)))
}

// isNewcomer says that this peer joins a group of which neither the map nor its
// own past tells it any number. What it takes then leaves room to outbid it.
func (m *Machine) isNewcomer() bool {
	return len(m.members) <= 2 && m.lead.claim.Term.IsZero() && max(m.want.Highest, m.joining.above) == 0
}

// prefers reports whether t is to be followed rather than what is followed now. A lower term than the accepted one is
// never followed. An acknowledged claim goes before a provisional one, but anybody can say that it is: that moves no
// member that hears its manager, and no manager that more follow. A provisional claimant goes back to the manager that
// it missed only when that one speaks itself: to others it may have seemed alive for longer.
func (m *Machine) prefers(t feedring.Term, acked bool, from feedring.PeerID) bool {
	if t.Compare(m.disk.Term) < 0 {
		return false
	}
	higher := t.Compare(m.lead.claim.Term) > 0
	switch {
	case m.lead.serving && (m.lead.acked || m.renewed()):
		return acked && higher && m.yields(t)
	case m.lead.serving:
		return higher || acked && (from == t.Claimant || t != m.disk.Term)
	case m.live():
		return higher && (t.Claimant == m.manager() || acked && from == m.manager())
	default:
		return true
	}
}

// refuse answers a claim that is not followed. A Stale is never answered by a
// Stale, so that two peers cannot go on for ever.
func (m *Machine) refuse(t feedring.Term, acked bool, in Receive) {
	if _, isStale := in.Message.(Stale); !isStale {
		m.sendStale(in.From)
	}
	if acked && t.Compare(m.lead.claim.Term) > 0 && !m.lead.serving && m.live() && m.now.Sub(m.lead.askedAt) >= m.beatEvery() {
		m.lead.askedAt = m.now
		m.answerBeacon(0) // a manager that follows another one answers so
	}
	if acked && t.Compare(m.disk.Term) < 0 && in.From == m.manager() && !m.lead.serving {
		m.abandoned() // the manager itself follows another one
	}
	if acked && t.Compare(m.disk.Term) < 0 && (!m.live() || m.lead.serving && !m.lead.acked) {
		// A live manager below the accepted term cannot be obeyed. Asked to admit this peer, it claims above.
		m.sendJoin(t.Claimant)
	}
}

// onOwnClaim: somebody follows a claim that this peer gave up before it knew. Where the manager to whom it yielded
// lives, a claim anew would yield again, and be followed again, for ever: from is told instead, and joins that manager
// with the term that it has accepted. Where from is that manager, nobody manages unless this peer claims anew.
func (m *Machine) onOwnClaim(t feedring.Term, from feedring.PeerID) {
	switch {
	case m.lead.serving || t.Compare(m.disk.Term) <= 0 || t.Number > m.want.Highest || m.saving.purpose != forNothing:
	case m.live() && from != m.manager():
		m.sendStale(from)
	default:
		m.claim(t.Number)
	}
}

// follow makes c the claim that this peer follows.
func (m *Machine) follow(c Claim) {
	served := m.lead.serving
	m.admitter.ForgetNewcomers()
	m.support.Forget()
	m.lead = lead{claim: c, heard: m.now, since: m.now}
	m.seen = max(m.seen, c.Term.Number)
	m.endSuspicion()
	m.probes = nil
	m.timers.Cancel(timerKey{kind: timerBeacon})
	for _, mem := range m.members {
		mem.away, mem.acked = mem.away && mem.row.Peer != c.Term.Claimant, false
	}
	m.changedRows()
	m.watch()
	if served {
		m.abdicate()
	}
	if !m.timers.IsSet(timerKey{kind: timerGarbage}) {
		m.startGarbage()
	}
}

// abdicate tells the members of this manager whom it follows now.
func (m *Machine) abdicate() {
	rows := []*Row{}
	if mem := m.members[m.manager()]; mem != nil {
		rows = append(rows, mem.row)
	}
	for _, p := range m.everybody() {
		if p != m.manager() {
			m.send(p, Rows{Header: m.header(), Rows: rows})
			m.sendStale(p)
		}
	}
}

// sendStale tells which claim this peer follows.
func (m *Machine) sendStale(to feedring.PeerID) {
	if m.lead.claim.Term.IsZero() || to == m.cfg.Self {
		return
	}
	m.send(to, m.stale())
}

// stale is the claim that this peer follows.
func (m *Machine) stale() Stale {
	s := Stale{Header: m.header(), Claim: m.lead.claim, Secondary: m.lead.secondary, Acknowledged: !m.lead.serving || m.lead.acked}
	if mem := m.members[m.manager()]; mem != nil {
		s.Addrs = mem.row.Addrs
	}
	return s
}

// correctTerm tells a member whose message shows that it follows a lower term. Most of these come in numbers, so once a
// beat is enough; and a Stale is never answered by a Stale.
func (m *Machine) correctTerm(from feedring.PeerID, msg Message) {
	switch msg.(type) {
	case Join, Admitted, Beacon, Confirmation, Refresh, Intention, Objection, Stale:
		return // answered where they are taken
	case Leave, HandOver:
		return // it goes
	}
	t := msg.Of().Term
	if t.IsZero() || t.Compare(m.lead.claim.Term) >= 0 {
		return
	}
	mem := m.members[from]
	if mem == nil || from == m.cfg.Self ||
		!mem.past().staled.IsZero() && m.now.Sub(mem.past().staled) < m.beatEvery() {
		return
	}
	mem.note().staled = m.now
	m.sendStale(from)
}

func (m *Machine) onStale(in Receive, s Stale) {
	if t := s.Claim.Term; t.Claimant != "" && t.Claimant != m.cfg.Self && len(s.Addrs) > 0 && len(s.Addrs) <= catalogue.MaxAddrs {
		m.emit(Reach{Peer: t.Claimant, Addrs: s.Addrs})
	}
	m.tells(in, s.Claim)
	if m.joining.active {
		m.onManagerNamed(in.From, s)
		m.comeBack(in.From, s)
	}
	if m.consider(s.Claim, s.Acknowledged, in) && m.lead.number == 0 {
		m.lead.secondary = s.Secondary
		m.askAdmission() // the manager may not know this peer
	}
}

// sealedBy checks whose statement it is. Seals were verified before; a statement without one came from its maker.
func sealedBy(s *feedring.Seal, by feedring.PeerID) bool { return s == nil || s.Signer == by }
