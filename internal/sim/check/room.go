package check

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// seeking names the assignments of one peer to another for a query.
type seeking struct {
	at, to  int32
	id      feedring.QueryID
	attempt uint32
}

// A lookup asks each peer once; the same query may be looked up again by
// another coordinator, but not often.
const (
	mostAsked = 4
	askedIn   = 3 * time.Second
)

// assigns checks that a lookup does not go on asking a peer that makes no room
// (S12).
func (w *Witness) assigns(p int32, to feedring.PeerID, m group.Assign) {
	key := seeking{p, w.cfg.Index(to), m.ID, m.Attempt}
	sent := w.rules.seeks[key]
	for len(sent) > 0 && w.cfg.Now()-sent[0] > askedIn {
		sent = sent[1:]
	}
	w.rules.seeks[key] = append(sent, w.cfg.Now())
	if len(sent) >= mostAsked {
		w.Fail("S12", "%s asks %s for room again and again", w.cfg.Name(p), to)
	}
	if len(w.rules.seeks) > 4096 {
		clear(w.rules.seeks)
	}
}

// makesRoom checks that who acknowledges a place counts it (L5).
func (w *Witness) makesRoom(p int32, m group.Assigned) {
	if m.OK && m.Leases < 1 {
		w.Fail("L5", "%s acknowledges a place and keeps none", w.cfg.Name(p))
	}
}
