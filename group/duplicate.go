package group

import "time"

// twin counts statements with this peer's key that this peer never made. Who
// lost its disk meets those of its earlier life, once, and goes on above them;
// where they go on for three periods somebody is making them.
type duplicateIdentity struct {
	since, last time.Time
	times       int
}

// metOwn hears of such a statement.
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
