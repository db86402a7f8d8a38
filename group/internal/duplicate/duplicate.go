// Package duplicate notices that another process runs with a peer's key.
package duplicate

import "time"

// Identity counts statements with this peer's key that this peer never made. A
// peer that lost its disk meets those of its earlier life, once, and goes on above them.
// If they go on for three periods, another process makes them.
type Identity struct {
	since, last time.Time
	times       int
}

// Heard notes such a statement, and reports whether another process makes them: again at most
// every three periods.
func (w *Identity) Heard(now time.Time, refresh time.Duration) bool {
	if now.Sub(w.last) > 10*refresh {
		*w = Identity{since: now}
	}
	w.last = now
	w.times++
	if w.times < 3 || now.Sub(w.since) < 3*refresh {
		return false
	}
	*w = Identity{since: now, last: now}
	return true
}
