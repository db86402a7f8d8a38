package check

import (
	"time"

	"github.com/feedring/feedring"
)

// deposes checks S3 where a peer took its manager's place after an intention:
// nobody who follows the same manager could have reached it and objected in
// time.
func (w *Witness) deposes(p int32, s *seat) {
	manager := w.cfg.Index(s.term.Claimant)
	at := s.intent
	if at == 0 {
		at = w.cfg.Now() // it asked nobody
	}
	if manager < 0 || manager == p || s.role == feedring.RoleManager || s.yielded >= at-4*w.cfg.Refresh && s.yielded > 0 {
		return
	}
	long := at - 4*w.cfg.Refresh // they know each other
	if !w.manages(manager, s, long) || s.since > long || !w.cfg.Steady(p, long) || !w.cfg.Steady(manager, long) {
		return
	}
	w.Judge("S3 of a manager that lives")
	for q := range int32(w.cfg.Peers()) {
		if q == p || q == manager || !w.followsLong(q, s, long) || !w.cfg.Steady(q, long) || !w.probes(q, s, p, manager) {
			continue
		}
		if w.reach(p, q, at) && w.reach(q, manager, at) {
			w.Fail("S3", "%s takes the place of %s under %v, which %s could reach", w.cfg.Name(p), s.term.Claimant, s.term, w.cfg.Name(q))
			return
		}
	}
}

// probers is how many members look whether a peer lives that another asks about
// (docs/protocol.md 5.5).
const probers = 8

// probes reports whether q is one of those, the two that it is about left out.
func (w *Witness) probes(q int32, s *seat, p, about int32) bool {
	v := w.cfg.Membership(q, s.theme)
	if v == nil {
		return false
	}
	ahead := 0
	for i := range v.Members { // by rank
		switch w.cfg.Index(v.Members[i].Row.Peer) {
		case q:
			return ahead < probers
		case p, about:
		default:
			ahead++
		}
	}
	return false
}

// Suspects reports whether a peer has asked since a time whether others reach its
// manager.
func (w *Witness) Suspects(p int32, theme feedring.Theme, since time.Duration) bool {
	return w.of(p).seat(theme.Group()).asked > since
}

// Probes reports whether a peer has asked since a time whether another lives.
func (w *Witness) Probes(p int32, theme feedring.Theme, since time.Duration) bool {
	return w.of(p).seat(theme.Group()).probes.asked > since
}

func (w *Witness) manages(p int32, of *seat, since time.Duration) bool {
	s := w.of(p).seat(of.group)
	return s.role == feedring.RoleManager && s.term == of.term && s.since <= since
}

func (w *Witness) followsLong(p int32, of *seat, since time.Duration) bool {
	if !w.cfg.Runs(p) {
		return false
	}
	s := w.of(p).seat(of.group)
	return s.role >= feedring.RolePeer && s.term == of.term && s.since <= since
}

func (w *Witness) reach(a, b int32, since time.Duration) bool {
	return w.cfg.Sound(a, b, since) && w.cfg.Sound(b, a, since)
}
