package group

import "time"

// startGarbage begins to collect garbage: entries and rows that are too old.
func (m *Machine) startGarbage() {
	if b := (timerKey{kind: timerGarbage}); !m.timers.IsSet(b) {
		m.timers.Set(b, m.now.Add(m.jitter(m.garbageEvery())))
	}
}

func (m *Machine) garbageEvery() time.Duration {
	return min(time.Hour, max(m.cfg.Refresh, m.cfg.Freshness/48))
}

func (m *Machine) collectGarbage() {
	m.after(timerGarbage, m.garbageEvery())
	m.emit(Prune{Group: m.group, Before: m.now.Add(-m.cfg.retention())})
	m.expire()
	m.setVouches(m.sites.Expire(m.me().row.Vouches, m.now))
	if m.sites.vouched == nil || m.sites.validUntil.IsZero() || m.now.Before(m.sites.validUntil) {
		m.checkSitesSoon()
	} else {
		m.changedRows() // vouches grew old
	}
}
