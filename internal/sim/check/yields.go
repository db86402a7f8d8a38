package check

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// yields checks that a manager that others follow does not step down for a
// claim that nobody acknowledged (S3): who was cut off for a night would depose
// the manager of a hundred peers. One that claimed anew has r to be acknowledged
// again.
func (w *Witness) yields(p int32, o *observed, out group.Persist) {
	s := o.find(out.Group)
	if s == nil || s.role != feedring.RoleManager || s.accepted.Term != s.term || out.State.Term == s.written.Term {
		return
	}
	anew := s.sure.Claimant == w.cfg.Name(p) && s.sure != s.term // the role is not told again
	if anew && w.cfg.Now()-w.claims[w.claimOf(s, s.sure)].at >= w.cfg.Refresh {
		return
	}
	w.Judge("S3 of a manager that steps down")
	if provisional(o.given.Message) {
		w.Fail("S3", "%s steps down from %v, which others follow, for %v, which nobody does", w.cfg.Name(p), s.term, out.State.Term)
	}
}

// provisional reports whether a message is a claim that nobody acknowledged.
func provisional(m feedring.Message) bool {
	switch m := m.(type) {
	case group.Confirmation:
		return true
	case group.Beacon:
		return m.Acknowledged == 0
	case group.Stale:
		return !m.Acknowledged
	}
	return false
}

// onDisk checks that a peer follows no term that is not on its disk: it would
// fall at the next crash (S1).
func (w *Witness) onDisk(p int32, h group.Header) {
	s := w.of(p).seat(h.Group)
	if h.Term.Claimant != w.cfg.Name(p) && h.Term.Compare(s.accepted.Term) > 0 {
		w.Fail("S1", "%s follows %v, and %v is on its disk", w.cfg.Name(p), h.Term, s.accepted.Term)
	}
}
