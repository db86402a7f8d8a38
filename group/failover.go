package group

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/health"
)

// suspicion is of the manager, or, at the manager, of the secondary.
type suspicion struct {
	nonce      uint64    // of the intention under way; 0: none
	timer      timerKind // which ends it
	of         feedring.PeerID
	objections int
	deferred   time.Time // no intention before: somebody else has one
}

// failover is what this peer suspects of others, and of itself.
type failover struct {
	suspicion  suspicion     // a member's, of the manager; the manager's, of the secondary
	probes     []probe       // for other peers' intentions
	health     health.Local  // how far it trusts its own clock
	rankInputs protectInputs `state:"derived"` // what rank was made of
	rank       int           `state:"derived"` // see turn
}

// probe is one for another peer's intention.
type probe struct {
	nonce uint64
	by    feedring.PeerID
	of    feedring.PeerID
	sent  time.Time
}

func (m *Machine) suspect(of feedring.PeerID, ends timerKind) {
	m.suspicion.nonce, m.suspicion.timer, m.suspicion.of = m.nonce(), ends, of
	m.after(ends, m.window())
}

// endSuspicion forgets the intention under way and a claim that waits for the disk; objections are remembered.
func (m *Machine) endSuspicion() {
	if m.suspicion.nonce != 0 {
		m.timers.Cancel(timerKey{kind: m.suspicion.timer})
	}
	m.suspicion.nonce = 0
	if !m.lead.serving && m.saving.purpose == forClaim && m.live() {
		m.saving = saving{}
	}
}

// watch sets the timer for the manager's silence. The secondary's comes after
// one period, the peer of rank i waits for i windows more.
func (m *Machine) watch() {
	if m.lead.serving || m.lead.claim.Term.IsZero() || m.leaving {
		m.timers.Cancel(timerKey{kind: timerSilence})
		return
	}
	at := m.silenceAt().Add(time.Duration(m.turn()) * m.baseWindow())
	if at.Before(m.suspicion.deferred) {
		at = m.suspicion.deferred
	}
	m.timers.Set(timerKey{kind: timerSilence}, at)
}

// turn is 0 for the secondary, else this peer's rank among the others, from 1.
func (m *Machine) turn() int {
	if m.lead.secondary == m.cfg.Self {
		return 0
	}
	of := protectInputs{index: m.index(), manager: m.manager(), secondary: m.lead.secondary}
	if m.rankInputs != of {
		m.rankInputs, m.rank = of, 1+m.rankBefore(of.manager, of.secondary)
	}
	return m.rank
}

// intend: the manager was silent. The others are asked whether they reach it.
func (m *Machine) intend() {
	if m.lead.serving || m.leaving || m.suspicion.nonce != 0 || m.saving.purpose == forClaim {
		return
	}
	if m.now.Before(m.silenceAt()) {
		m.watch()
		return
	}
	if mem := m.members[m.manager()]; mem != nil && mem.row.Left {
		m.claim(0)
		return
	}
	m.suspect(m.manager(), timerObjection)
	proposed := max(m.want.Highest, m.want.Term.Number, m.seen) + 1
	var msg Message = Intention{Header: m.header(), Proposed: proposed, Elapsed: m.now.Sub(m.lead.heard), Nonce: m.suspicion.nonce}
	for _, p := range m.everybody() {
		m.send(p, msg)
	}
}

// unopposed: nobody reached the manager within the window.
func (m *Machine) unopposed() {
	if m.lead.serving || m.suspicion.nonce == 0 {
		return
	}
	m.suspicion.nonce = 0
	m.claim(0)
	// Should the disk be so slow that another claims first, this peer follows.
	m.suspicion.deferred = m.now.Add(2 * m.baseWindow())
	m.watch()
}

// onIntention probes the suspected manager, or secondary where the manager
// asks, if this peer is among the first eight by rank.
func (m *Machine) onIntention(from feedring.PeerID, in Intention) {
	t := m.lead.claim.Term
	if t.IsZero() || m.members[from] == nil || m.leaving {
		return
	}
	if c := in.Header.Term.Compare(t); c < 0 {
		claim := m.lead.claim
		m.send(from, Objection{Header: m.header(), Nonce: in.Nonce, Claim: &claim})
		return
	} else if c > 0 {
		return
	}
	of := m.manager()
	if from == of {
		of = m.lead.secondary
	} else if !m.lead.serving {
		m.suspicion.deferred = m.now.Add(2 * m.baseWindow())
		if m.lead.suspectedAt.IsZero() {
			m.lead.suspectedAt = m.now
		}
		m.watch()
	}
	switch {
	case of == m.cfg.Self:
		m.send(from, Objection{Header: m.header(), Nonce: in.Nonce, Alive: &Alive{Header: m.header(), Nonce: in.Nonce}})
	case m.amongFirst(8, from, of) && len(m.probes) < maxProbes:
		m.probes = slices.DeleteFunc(m.probes, func(p probe) bool { return m.now.Sub(p.sent) > m.cfg.Refresh })
		m.probes = append(m.probes, probe{nonce: in.Nonce, by: from, of: of, sent: m.now})
		m.send(of, Probe{Header: m.header(), Nonce: in.Nonce})
	}
}

// amongFirst says whether this peer is one of the first n by rank, the two that it is about left out.
func (m *Machine) amongFirst(n int, but ...feedring.PeerID) bool {
	return m.rankBefore(but...) < n
}

// onProbe answers for what the sender takes this peer to be. A manager that
// started again manages nothing: it must not hold up who takes its place.
func (m *Machine) onProbe(from feedring.PeerID, p Probe) {
	if p.Header.Term == m.lead.claim.Term && !m.leaving {
		m.send(from, Alive{Header: m.header(), Nonce: p.Nonce})
	}
}

func (m *Machine) onAlive(from feedring.PeerID, a Alive) {
	if a.Header.Term != m.lead.claim.Term || !sealedBy(a.Seal, from) {
		return
	}
	for i, p := range m.probes {
		if p.nonce == a.Nonce && p.of == from {
			m.health.Measure(m.now, p.sent)
			m.probes = slices.Delete(m.probes, i, i+1)
			m.send(p.by, Objection{Header: m.header(), Nonce: a.Nonce, Alive: &a})
			break
		}
	}
	if from == m.manager() {
		m.heardManager()
	}
}

// onObjection: the suspected peer is alive, or a higher term holds.
func (m *Machine) onObjection(in Receive, o Objection) {
	if o.Claim != nil {
		if m.consider(*o.Claim, in.From != o.Claim.Term.Claimant, in) && m.lead.number == 0 {
			m.askAdmission() // the manager may not know this peer
		}
		return
	}
	s := &m.suspicion
	if o.Alive == nil || s.nonce == 0 || o.Nonce != s.nonce || o.Alive.Nonce != s.nonce ||
		o.Alive.Header.Term != m.lead.claim.Term || !sealedBy(o.Alive.Seal, s.of) {
		return
	}
	m.endSuspicion()
	s.objections++
	again := s.objections >= m.cfg.Attempts
	if again {
		s.objections = 0
	}
	if m.lead.serving {
		if again {
			m.dismiss()
			m.elect()
			m.beacon()
		} else if mem := m.members[m.lead.secondary]; mem != nil {
			mem.heard = m.now
		}
		return
	}
	m.lead.heard, m.lead.suspectedAt = m.now, time.Time{}
	if (again || m.lead.number == 0) && !m.joining.active {
		m.askAdmission() // it lives and sends this peer nothing
	}
	if again && m.lead.secondary == m.cfg.Self {
		m.send(in.From, Replace{Header: m.header(), Secondary: m.cfg.Self})
	}
	m.watch()
}

// advanceClock moves the clock. A tick that is late by more than r/8 shows that this
// peer did not run: the silence of others in that time was its own.
func (m *Machine) advanceClock(now time.Time) {
	if now.Before(m.now) {
		now = m.now
	}
	due := m.timers.Next()
	m.now = now
	if due.IsZero() {
		return
	}
	if late := now.Sub(due); late > m.cfg.Refresh/8 {
		m.missedDeadline(late)
	}
}

func (m *Machine) missedDeadline(late time.Duration) {
	m.health.Missed(m.now, late)
	if late >= m.cfg.Refresh {
		late = 1 << 62 // a full period of silence counts only from now on
	}
	awake := func(heard time.Time) time.Time {
		if m.now.Sub(heard) <= late {
			return m.now
		}
		return heard.Add(late)
	}
	if !m.lead.serving {
		m.lead.heard = awake(m.lead.heard)
	}
	for _, mem := range m.members {
		if !mem.away {
			mem.heard = awake(mem.heard)
		}
	}
	if m.suspicion.nonce != 0 {
		m.timers.Set(timerKey{kind: m.suspicion.timer}, m.now.Add(m.window()))
	} else if !m.lead.serving {
		m.watch()
	}
}

// stretch is the refresh period as this peer counts it for others' silence.
func (m *Machine) stretch() time.Duration { return m.health.Stretch(m.now) }

// silenceAt is when the manager, if it gives no sign of life, has been silent for a period as this peer counts it.
func (m *Machine) silenceAt() time.Time { return m.health.SilenceAt(m.lead.heard) }

// window is how long a probe may take.
func (m *Machine) window() time.Duration {
	return time.Duration(float64(m.baseWindow()) * float64(m.stretch()) / float64(m.cfg.Refresh)) // the product of two durations has no room
}

// baseWindow is the window of a healthy peer. Ranks are counted in it, so that one
// unhealthy peer does not hold up those behind it.
func (m *Machine) baseWindow() time.Duration { return max(m.cfg.Refresh/4, 3*m.health.RoundTrip()) }
