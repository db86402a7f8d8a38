package group

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// live says that the manager gave a sign of life within the refresh period.
func (m *Machine) live() bool {
	if m.lead.serving {
		return true
	}
	mem := m.members[m.manager()]
	doubted := !m.lead.suspectedAt.IsZero() && m.now.Sub(m.lead.suspectedAt) >= m.window()/2
	return mem != nil && !mem.row.Left && !doubted && m.now.Before(m.silenceAt())
}

// heardManager notes a sign of life of the manager.
func (m *Machine) heardManager() {
	m.lead.heard, m.lead.suspectedAt = m.now, time.Time{}
	m.endSuspicion()
	m.suspicion.objections = 0
	m.watch()
}

func (m *Machine) onConfirmation(in Receive, c Confirmation) {
	if in.From != c.Claim.Term.Claimant || !m.consider(c.Claim, false, in) || m.lead.number > 0 {
		return
	}
	m.lead.secondary = c.Secondary
	m.heardManager()
	m.answerBeacon(0)
}

func (m *Machine) onBeacon(in Receive, b Beacon) {
	claimant := b.Claim.Term.Claimant
	if len(b.Heads) > maxItems || len(b.Away) > maxRows || b.Header.Term != b.Claim.Term || !sealedBy(b.Seal, claimant) {
		return
	}
	if in.From != claimant && (b.Seal == nil || b.Claim.Term != m.lead.claim.Term) {
		return // passed on over the mesh, of another manager
	}
	if in.From == claimant {
		m.tells(in, b.Claim)
	}
	if !m.consider(b.Claim, b.Acknowledged > 0, in) || b.Number <= m.lead.number {
		return
	}
	m.lead.number = b.Number
	if m.lead.secondary != b.Secondary {
		m.lead.secondary, m.views.view = b.Secondary, nil
	}
	m.health.ToldRoundTrip(b.RoundTrip)
	m.heardManager()
	if m.me().row.Admitted.IsZero() && !m.joining.active {
		m.askAdmission() // followed before it admitted this peer
	}
	m.onAway(b.Away)
	if l := m.linked(); l != nil {
		for _, p := range l.Pass(make([]feedring.PeerID, 0, 16), claimant, b.Number) {
			if p != in.From && p != claimant {
				m.send(p, in.Message)
			}
		}
	}
	teller := claimant
	if m.large() { // it is near, and tells of it itself from then on
		teller = in.From
	}
	m.replicator.OnTold(b.Heads, b.Older, claimant, teller)
	m.answerBeacon(b.Number)
	m.reportDebt()
	if b.Catalogue != m.catalogueHash() && !m.timers.IsSet(timerKey{kind: timerRow}) {
		m.ownRow.announced = false
		m.announceRow()
		m.wantRows(claimant)
	}
}

// answerBeacon acknowledges the manager's term.
func (m *Machine) answerBeacon(beacon uint64) {
	heads, older := m.replicator.Recent()
	m.send(m.manager(), BeaconAnswer{
		Header: m.header(), Number: beacon, Leases: m.placer.Load(),
		Catalogue: m.catalogueHash(), Heads: heads, Older: older,
	})
}

// onAway takes over who is away by the manager's count.
func (m *Machine) onAway(away []feedring.PeerID) {
	if len(away) == 0 && m.index().Away == 0 {
		return
	}
	gone := make(map[feedring.PeerID]bool, len(away))
	for _, p := range away {
		gone[p] = p != m.cfg.Self && p != m.manager()
	}
	changed := false
	var back []feedring.PeerID
	for p, mem := range m.members {
		switch {
		case gone[p] && !mem.away:
			mem.away, mem.since, changed = true, m.now, true
		case !gone[p] && mem.away && m.now.Sub(mem.since) > m.admitter.Retention(p)-2*m.cfg.Refresh:
			m.forget(p, mem) // as the manager did; if not, it tells the row again
		case !gone[p] && mem.away:
			mem.away, mem.since, changed = false, time.Time{}, true
			back = append(back, p)
		}
	}
	if changed {
		m.changedPresence()
	}
	slices.Sort(back)
	for _, p := range back {
		m.replicator.OnReturn(p)
	}
}
