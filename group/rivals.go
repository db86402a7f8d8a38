package group

import (
	"slices"

	"github.com/feedring/feedring"
)

// The manager's part in judging rivals: support.Ledger counts.

// tells notes whom a peer says that it follows.
func (m *Machine) tells(in Receive, c Claim) {
	if m.lead.serving && c.Term.Claimant != "" && sealedBy(c.Seal, c.Term.Claimant) {
		m.support.Told(in.From, m.members[in.From] != nil, in.Prefix, c.Term.Claimant, m.now)
		m.outbidRival() // if that was the last answer
	}
}

// yields reports whether this acknowledged manager follows a higher claim: one that has at
// least as much support. If not, those are asked that may follow it.
func (m *Machine) yields(t feedring.Term) bool {
	if m.support.Yields(t.Claimant, m.now) {
		return true
	}
	ask, again := m.support.Meet(t, m.now)
	if ask {
		m.askFollowers(m.everybody(), nil)
		m.after(timerRival, m.baseWindow())
	}
	if again && !m.joining.active {
		m.enter(Enter{Via: []feedring.PeerID{t.Claimant}})
	}
	return false
}

// askFollowers asks peers, of which rows are known, whom they follow: who follows another manager answers a beacon by that.
func (m *Machine) askFollowers(of []feedring.PeerID, rows []*Row) {
	var b Message = m.beaconNow()
	for _, p := range m.support.Ask(of, m.now, func(n int) int { return int(m.rng.Uint64() % uint64(n)) }) {
		if i := slices.IndexFunc(rows, func(r *Row) bool { return r.Peer == p }); i >= 0 {
			m.emit(Reach{Peer: p, Addrs: rows[i].Addrs})
		}
		m.sendAs(p, b, true)
	}
}

// askPeersOf asks those of whom a rival told that admits this manager, and that it does not know.
func (m *Machine) askPeersOf(rival feedring.PeerID, rows []*Row) {
	if !m.lead.serving || !m.joining.asked(rival) || len(rows) == 0 {
		return
	}
	var of []feedring.PeerID
	for i, first := 0, int(m.rng.Uint64()%uint64(len(rows))); i < len(rows) && len(of) < maxVia; i++ {
		if r := rows[(first+i)%len(rows)]; r.Valid(m.group) && m.members[r.Peer] == nil {
			of = append(of, r.Peer)
		}
	}
	m.askFollowers(of, rows)
	if m.support.Listed(m.now) {
		m.after(timerRival, m.baseWindow())
	}
}

// outbidRival claims above a rival that has less support.
func (m *Machine) outbidRival() {
	if !m.lead.acked || m.leaving || m.saving.purpose != forNothing {
		return
	}
	if t, ok := m.support.Outbid(m.lead.claim.Term, m.baseWindow(), m.joining.active, m.now); ok {
		if t.Claimant == m.lead.secondary {
			m.dismiss()
		}
		m.claim(m.followable(t.Number))
	}
}
