package check

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// seeking names a lookup at the peer that does it.
type seeking struct {
	at      int32
	group   feedring.GroupID
	id      feedring.QueryID
	attempt uint32
}

// sought is whom a lookup asked for room. asked is nil where it is not known
// when the lookup began: it was for the peer itself.
type sought struct {
	asked map[feedring.PeerID]int // how often
	last  time.Duration
}

// seeks notes that another peer asks for a lookup. While one is under way, that
// asks for nothing new.
func (w *Witness) seeks(p int32, m group.Place) {
	key := seeking{p, m.Header.Group, m.ID, m.Attempt}
	if was, known := w.rules.seeks[key]; !known || w.cfg.Now()-was.last > lookupTime {
		w.rules.seeks[key] = sought{map[feedring.PeerID]int{}, w.cfg.Now()}
	}
	if len(w.rules.seeks) > 4096 {
		clear(w.rules.seeks)
	}
}

// assigns checks that a lookup asks each peer once (S12).
func (w *Witness) assigns(p int32, to feedring.PeerID, m group.Assign) {
	key := seeking{p, m.Header.Group, m.ID, m.Attempt}
	s := w.rules.seeks[key]
	if s.asked[to] > 0 {
		w.Fail("S12", "%s asks %s for room again for one lookup", w.cfg.Name(p), to)
	}
	if s.asked != nil {
		s.asked[to]++
	}
	w.rules.seeks[key] = sought{s.asked, w.cfg.Now()}
}

// sought ends a lookup.
func (w *Witness) sought(p int32, m group.Placed) {
	w.rules.seeks[seeking{p, m.Header.Group, m.ID, m.Attempt}] = sought{nil, w.cfg.Now()}
}

// Keeps reports whether a peer may still keep a place that no client has taken:
// it counts as one of its clients until then, and its manager hears of the end by
// the next beacon.
func (w *Witness) Keeps(p int32) bool {
	at, known := w.rules.rooms[p]
	return known && w.cfg.Now()-at < 2*w.cfg.Refresh
}

// makesRoom checks that who acknowledges a place counts it (L5).
func (w *Witness) makesRoom(p int32, m group.Assigned) {
	w.rules.rooms[p] = w.cfg.Now()
	if m.OK && m.Leases < 1 {
		w.Fail("L5", "%s acknowledges a place and keeps none", w.cfg.Name(p))
	}
}

// admits checks that nobody is served on a ticket that has expired
// (docs/protocol.md 11).
func (w *Witness) admits(p int32, o *observed) {
	if a, ok := o.told.Input.(group.Attach); ok && !a.Ticket.Expiry.After(w.cfg.Clock(p)) {
		w.Fail("ticket", "%s serves %s on a ticket that held until %v", w.cfg.Name(p), a.Ticket.Client, a.Ticket.Expiry)
	}
}
