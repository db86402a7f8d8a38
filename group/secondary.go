package group

import (
	"cmp"
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// elect names a secondary where there is none: the least loaded of those old enough, at another address if there is a
// choice. Both are preferences: a group of two, or one on a single machine, has a secondary as well.
func (m *Machine) elect() {
	if !m.lead.serving || m.lead.secondary != "" {
		return
	}
	best := feedring.PeerID("")
	waiting := false
	for _, p := range m.present() {
		if mem := m.members[p]; !mem.acked {
			waiting = true
		} else if best == "" || m.compareFit(p, best) < 0 {
			best = p
		}
	}
	// Just after a claim some may not have answered yet: the first to answer is not always the best.
	if best == "" || waiting && m.now.Sub(m.lead.since) < m.window() {
		return
	}
	m.lead.secondary = best
	mem := m.members[best]
	mem.heard = m.now
	m.managing.replicated = 0
	m.views.view = nil
}

// compareFit orders candidates for secondary, the better first.
func (m *Machine) compareFit(a, b feedring.PeerID) int {
	x, y := m.members[a], m.members[b]
	young := func(mem *member) bool { return m.now.Sub(mem.first) < 10*m.cfg.Refresh }
	unfit := func(mem *member) bool {
		return !mem.past().unfit.IsZero() && m.now.Sub(mem.past().unfit) < 10*m.cfg.Refresh
	}
	mine := m.me().row.Addrs
	return cmp.Or(
		catalogue.FalseFirst(unfit(x), unfit(y)),
		catalogue.FalseFirst(young(x), young(y)),
		catalogue.FalseFirst(catalogue.SharesHost(x.row.Addrs, mine), catalogue.SharesHost(y.row.Addrs, mine)),
		cmp.Compare(m.placer.LoadOf(a), m.placer.LoadOf(b)),
		catalogue.CompareRank(x.row, y.row),
	)
}

// refreshSecondary replicates loads and rows that changed since the version that the secondary acknowledged.
func (m *Machine) refreshSecondary() {
	to := m.members[m.lead.secondary]
	if to == nil || m.managing.replicated == m.changes && m.managing.beacon%3 != 0 {
		return
	}
	msg := Refresh{Header: m.header(), Claim: m.lead.claim, Version: m.changes}
	size := 0
	for _, p := range append([]feedring.PeerID{m.cfg.Self}, m.everybody()...) {
		mem := m.members[p]
		changed, granted := mem.changed > m.managing.replicated || m.managing.replicated == 0, m.placer.Granted(p)
		if !changed && granted == 0 {
			continue
		}
		load, _ := m.placer.Told(p)
		if p == m.cfg.Self {
			load = m.placer.Load()
		}
		msg.Loads = append(msg.Loads, Load{Peer: p, Leases: load, Granted: granted})
		if !changed {
			continue
		}
		if size += mem.row.Size(); p != m.lead.secondary && size < catalogue.MaxBytes {
			msg.Rows = append(msg.Rows, mem.row)
		}
	}
	m.send(m.lead.secondary, msg)
}

func (m *Machine) onRefresh(in Receive, r Refresh) {
	if len(r.Loads) > maxRows || len(r.Rows) > maxRows || in.From != r.Claim.Term.Claimant || !m.consider(r.Claim, true, in) {
		return
	}
	m.heardManager()
	for _, row := range r.Rows {
		m.mergeOf(in.From, row)
	}
	granted := map[feedring.PeerID]int{}
	for _, l := range r.Loads {
		if mem := m.members[l.Peer]; mem != nil {
			m.onLoad(mem, l.Leases)
			granted[l.Peer] = l.Granted
		}
	}
	m.placer.OnGranted(granted)
	m.send(in.From, Refreshed{Header: m.header(), Version: r.Version})
}

func (m *Machine) onRefreshed(from feedring.PeerID, r Refreshed) {
	if m.lead.serving && r.Header.Term == m.lead.claim.Term && from == m.lead.secondary && r.Version <= m.changes {
		m.managing.replicated = max(m.managing.replicated, r.Version)
	}
}

// probeSecondary probes a secondary that was silent for a period, directly and through the first eight peers.
func (m *Machine) probeSecondary() {
	p := m.lead.secondary
	mem := m.members[p]
	if p == "" || m.suspicion.nonce != 0 {
		return
	}
	if mem == nil || mem.away || mem.row.Left {
		m.dismiss()
		return
	}
	if silent := m.now.Sub(mem.heard); silent >= m.stretch() {
		m.suspect(p, timerSecondary)
		m.sendAs(p, Probe{Header: m.header(), Nonce: m.suspicion.nonce}, true)
		others := slices.DeleteFunc(slices.Clone(m.present()), func(o feedring.PeerID) bool { return o == p })
		for _, o := range others[:min(len(others), 8)] {
			m.send(o, Intention{Header: m.header(), Elapsed: silent, Nonce: m.suspicion.nonce})
		}
	}
}

// secondarySilent: nobody showed that the secondary is alive.
func (m *Machine) secondarySilent() {
	if !m.lead.serving || m.suspicion.nonce == 0 {
		return
	}
	m.dismiss()
	m.elect()
	m.beacon()
}

func (m *Machine) dismiss() {
	m.endSuspicion()
	if mem := m.members[m.lead.secondary]; mem != nil {
		mem.note().unfit = m.now
		mem.acked = false // until it answers again
	}
	m.lead.secondary, m.views.view = "", nil
}

// onReplace: the secondary cannot hear the manager, which others can.
func (m *Machine) onReplace(from feedring.PeerID, r Replace) {
	switch {
	case m.lead.claim.Term != r.Header.Term:
	case m.lead.serving && r.Secondary == m.lead.secondary && m.members[from] != nil && len(m.present()) > 1:
		m.dismiss()
		m.elect()
		m.beacon()
	case !m.lead.serving && from == r.Secondary:
		m.send(m.manager(), r)
	}
}
