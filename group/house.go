package group

import "time"

// startHouse begins to keep house: old entries and old rows go.
func (m *Machine) startHouse() {
	if b := (bell{chime: chimeHouse}); !m.timers.IsSet(b) {
		m.timers.Set(b, m.now.Add(m.jitter(m.houseEvery())))
	}
}

func (m *Machine) houseEvery() time.Duration {
	return min(time.Hour, max(m.cfg.Refresh, m.cfg.Freshness/48))
}

func (m *Machine) house() {
	m.after(chimeHouse, m.houseEvery())
	m.emit(Prune{Group: m.group, Before: m.now.Add(-m.cfg.retention())})
	m.expire()
	m.forgetWords()
	if m.sites.vouched == nil || m.sites.validUntil.IsZero() || m.now.Before(m.sites.validUntil) {
		m.lookSoon()
	} else {
		m.changedRows() // vouches grew old
	}
}
