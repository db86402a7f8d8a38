package group

import "time"

// duplicateIdentity counts statements with this peer's key that this peer never made. A
// peer that lost its disk meets those of its earlier life, once, and goes on above them.
// If they go on for three periods, another process makes them.
type duplicateIdentity struct {
	since, last time.Time
	times       int
}

// onOwnIdentity hears of such a statement.
func (m *Machine) onOwnIdentity() {
	w, r := &m.duplicate, m.cfg.Refresh
	if m.now.Sub(w.last) > 10*r {
		*w = duplicateIdentity{since: m.now}
	}
	w.last = m.now
	w.times++
	if w.times >= 3 && m.now.Sub(w.since) >= 3*r {
		m.emit(DuplicateIdentity{Theme: m.cfg.Theme})
		*w = duplicateIdentity{since: m.now, last: m.now}
	}
}
