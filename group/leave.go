package group

import "github.com/feedring/feedring"

// depart leaves in good order: the manager hands its role over, everybody is
// told with a tombstone.
func (m *Machine) depart(withdraw bool) {
	if m.leaving {
		return
	}
	m.leaving = true
	joined := !m.lead.claim.Term.IsZero()
	m.newRow(func(r *Row) {
		if r.Left = true; withdraw {
			r.Feeds = nil
		}
	})
	m.timers.Cancel(timerKey{kind: timerBeacon})
	if !joined {
		m.done()
		return
	}
	if m.lead.serving {
		m.send(m.lead.secondary, HandOver{Header: m.header()})
	}
	to := m.present()
	if !m.lead.serving && m.large() {
		to = append([]feedring.PeerID{m.manager()}, m.neighbours()...)
	}
	for _, p := range to {
		m.send(p, Leave{Header: m.header(), Row: *m.me().row})
	}
	if m.lead.serving && m.lead.secondary != "" {
		m.after(timerDepart, m.beatEvery())
		return
	}
	m.done()
}

func (m *Machine) done() {
	m.lead, m.role = lead{}, feedring.RoleNone
	m.emit(RoleChanged{Theme: m.cfg.Theme, Role: feedring.RoleNone})
	if len(m.conns.protected) > 0 {
		m.emit(Protect{Group: m.group})
	}
	m.emit(Departed{Group: m.group})
	m.departed = true
}

func (m *Machine) onLeave(from feedring.PeerID, l Leave) {
	if l.Row.Peer != from || !l.Row.Left || !m.merge(&l.Row) { // a stranger's is not taken
		return
	}
	switch {
	case m.lead.serving:
		m.spreadRows([]feedring.PeerID{from}, from)
		if from == m.lead.secondary {
			m.dismiss()
			m.elect()
			m.beacon()
		}
	case from == m.manager() && m.lead.secondary == m.cfg.Self:
		m.succeed()
	case from == m.manager():
		// The secondary claims now; should it be gone as well, the others' turn
		// comes after a period of silence.
		m.heardManager()
	}
}

func (m *Machine) onHandOver(from feedring.PeerID, h HandOver) {
	if !m.lead.serving && from == m.manager() && h.Header.Term == m.lead.claim.Term {
		m.succeed()
	}
}

// succeed claims at once: the manager itself asks for it.
func (m *Machine) succeed() {
	if m.leaving || m.saving.purpose == forClaim {
		return
	}
	m.endSuspicion()
	m.claim(0)
}
