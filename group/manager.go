package group

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// managing is what a manager does for the others.
type managing struct {
	beacon      uint64            // the number of the last one
	replicated  uint64            // the change that the secondary acknowledged
	pendingRows []feedring.PeerID // to be told with the next beacon, in large groups
}

// serve begins to manage under t, which is on disk.
func (m *Machine) serve(t feedring.Term) {
	before, deputy := m.manager(), m.lead.secondary
	renewed := m.lead.serving && (m.lead.acked || m.renewed())
	m.lead = lead{claim: Claim{Group: m.group, Term: t}, serving: true, heard: m.now, since: m.now, renewed: renewed, secondary: deputy}
	m.managing.beacon, m.probes = 0, nil
	m.endSuspicion()
	if !renewed { // else nobody else has managed: what it knows of its members holds
		m.lead.secondary = ""
		m.placer.ForgetReports()
	}
	for _, c := range []timerKind{timerSilence, timerJoin} {
		m.timers.Cancel(timerKey{kind: c})
	}
	m.joining = joining{}
	for p, mem := range m.members {
		mem.acked = false
		if renewed {
			continue
		}
		mem.heard = m.now
		if p == before && p != m.cfg.Self && !mem.away {
			mem.away, mem.since, mem.note().probed = true, m.now, m.now // it was probed
		}
		if p == deputy { // its turn was first, and it let it pass
			mem.heard = m.now.Add(-m.cfg.Refresh)
		}
	}
	if m.me().row.Admitted.IsZero() {
		m.newRow(func(r *Row) {
			r.Admitted = m.now.UTC().Truncate(time.Millisecond)
			r.From = m.restoredMark()
		})
	}
	m.changedRows()
	m.startGarbage()
	var msg Message = Confirmation{Header: m.header(), Claim: m.lead.claim, Secondary: m.lead.secondary}
	for _, p := range m.everybody() {
		m.send(p, msg)
	}
	m.announceRow()
	m.updateExceptions()
	m.after(timerBeacon, m.beatEvery())
	m.replicator.Enter()
}

// beat is what a manager does every third of the refresh period.
func (m *Machine) beat() {
	if !m.lead.serving {
		return
	}
	m.after(timerBeacon, m.beatEvery())
	m.review()
	for _, r := range m.admitter.Draw() {
		m.sendAdmitted(r, r)
	}
	m.probeSecondary()
	m.elect()
	m.beacon()
	m.outbidRival()
	m.reportDebt()
	if len(m.managing.pendingRows) > 0 {
		slices.Sort(m.managing.pendingRows)
		rows := m.rowsOf(slices.Compact(m.managing.pendingRows))
		m.managing.pendingRows = nil
		for _, p := range m.present() {
			m.sendRows(p, rows)
		}
	}
}

// beacon tells all members that the manager is there, and looks for those that
// were lost: nothing else makes two halves meet again.
func (m *Machine) beacon() {
	m.managing.beacon++
	m.lead.heard = m.now
	var b Message = m.beaconNow()
	m.out = slices.Grow(m.out, len(m.neighbours())+1)
	for _, p := range m.neighbours() {
		m.send(p, b)
	}
	for _, p := range m.admitter.Unanswered() {
		m.send(p, b)
	}
	var absent []feedring.PeerID
	for _, p := range m.everybody() {
		if mem := m.members[p]; mem.away && m.now.Sub(mem.past().probed) >= m.cfg.Refresh-m.beatEvery()/2 {
			absent = append(absent, p)
		}
	}
	for _, p := range m.admitter.Due(absent) {
		m.members[p].note().probed = m.now
		m.sendAs(p, b, true)
	}
	m.refreshSecondary()
}

func (m *Machine) beaconNow() Beacon {
	heads, older := m.replicator.Recent()
	followers := 0
	var away []feedring.PeerID
	for _, p := range m.everybody() {
		if mem := m.members[p]; mem.away {
			away = append(away, p)
		} else if mem.acked {
			followers++
		}
	}
	if m.accepted() {
		followers = max(followers, 1)
	} else {
		followers = 0
	}
	return Beacon{
		Header: m.header(), Claim: m.lead.claim, Number: m.managing.beacon, Secondary: m.lead.secondary,
		Acknowledged: followers, Away: away, Catalogue: m.catalogueHash(), Heads: heads, Older: older,
		RoundTrip: (m.health.RoundTrip() + time.Millisecond - 1).Truncate(time.Millisecond),
	}
}

// accepted says that the own claim was acknowledged, and that this is on disk.
func (m *Machine) accepted() bool { return m.lead.serving && m.disk.Term == m.lead.claim.Term }

// review sets aside members that were silent for two periods.
func (m *Machine) review() {
	changed := false
	for _, p := range m.everybody() {
		mem := m.members[p]
		if !mem.away && m.now.Sub(mem.heard) >= m.stretch()+m.cfg.Refresh {
			// Its answers may be what was lost: it is asked once more, by this beat's beacon.
			mem.away, mem.since, mem.note().probed, changed = true, m.now, time.Time{}, true
		}
	}
	if changed {
		m.changedPresence()
	}
}

// heardOf notes a sign of life.
func (m *Machine) heardOf(p feedring.PeerID, mem *member) {
	mem.heard = m.now
	if p == m.lead.secondary && m.lead.serving && m.suspicion.nonce != 0 {
		m.endSuspicion()
	}
}

// onReturn takes a member in again that was away.
func (m *Machine) onReturn(mem *member) {
	mem.heard = m.now
	if mem.away {
		mem.away, mem.since = false, time.Time{}
		m.changedPresence()
		m.replicator.OnReturn(mem.row.Peer)
	}
}

func (m *Machine) onBeaconAnswer(in Receive, a BeaconAnswer) {
	from, mem := in.From, m.members[in.From]
	if a.Header.Term.Claimant == m.cfg.Self {
		m.tells(in, Claim{Term: a.Header.Term})
	}
	switch t := m.lead.claim.Term; {
	case t.IsZero() || len(a.Heads) > maxItems || a.Header.Term.Compare(t) < 0:
		return
	case a.Header.Term != t || !m.lead.serving:
		if a.Header.Term.Claimant == m.cfg.Self {
			m.onOwnClaim(a.Header.Term, from)
		}
		return
	case mem == nil:
		m.send(from, RowsWanted{Header: m.header(), Have: m.versions()})
		return
	}
	m.onReturn(mem)
	m.onLoad(mem, a.Leases)
	if a.Number == m.managing.beacon {
		m.health.Measure(m.now, m.lead.heard)
	}
	if !mem.acked {
		mem.acked = true
		m.acknowledged()
	}
	m.replicator.OnTold(a.Heads, a.Older, from, from)
	if m.lead.secondary == "" {
		m.elect()
		if m.lead.secondary != "" {
			m.beacon()
		}
	}
}

// renewed says that this manager was acknowledged and claimed anew a moment ago.
// Its followers have a period to acknowledge that: until then it yields to no
// provisional claim, which one that was cut off alone may have made.
func (m *Machine) renewed() bool {
	return m.lead.renewed && m.now.Sub(m.lead.since) < m.cfg.Refresh
}

// acknowledged: another peer follows the own claim, so it is accepted.
func (m *Machine) acknowledged() {
	if m.lead.acked {
		return
	}
	m.lead.acked, m.lead.renewed = true, false
	m.joining = joining{} // a rival that goes before it will be heard of again
	m.want.Term = m.lead.claim.Term
	m.save(saving{purpose: forAck})
}
