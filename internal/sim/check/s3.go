package check

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// s3 checks that a live manager that a prober reaches in time stays.
type s3 struct{ *record }

// deposes checks S3 where a peer took its manager's place after an intention:
// nobody who follows the same manager could have reached it and objected in
// time.
func (c *s3) deposes(p int32, s *membership) {
	manager := c.cfg.Index(s.term.Claimant)
	at := s.intent
	if at == 0 {
		at = c.cfg.Now() // it asked nobody
	}
	if manager < 0 || manager == p || s.role == feedring.RoleManager || s.yielded >= at-4*c.cfg.Refresh && s.yielded > 0 {
		return
	}
	long := at - 4*c.cfg.Refresh // they know each other
	if !c.manages(manager, s, long) || s.since > long || !c.cfg.Steady(p, long) || !c.cfg.Steady(manager, long) {
		return
	}
	c.Judge("S3 of a manager that lives")
	for q := range int32(c.cfg.Peers()) {
		if q == p || q == manager || !c.followsLong(q, s, long) || !c.cfg.Steady(q, long) || !c.probes(q, s, p, manager) {
			continue
		}
		if c.reach(p, q, at) && c.reach(q, manager, at) {
			c.Fail("S3", "%s takes the place of %s under %v, which %s could reach", c.cfg.Name(p), s.term.Claimant, s.term, c.cfg.Name(q))
			return
		}
	}
}

// probers is how many members look whether a peer lives that another asks about
// (docs/protocol.md 5.5).
const probers = 8

// probes reports whether q is one of those, the two that it is about left out.
func (c *s3) probes(q int32, s *membership, p, about int32) bool {
	v := c.cfg.Membership(q, s.theme)
	if v == nil {
		return false
	}
	ahead := 0
	for i := range v.Members { // by rank
		switch c.cfg.Index(v.Members[i].Row.Peer) {
		case q:
			return ahead < probers
		case p, about:
		default:
			ahead++
		}
	}
	return false
}

// yields checks that a manager that others follow does not step down for a claim that
// nobody acknowledged (S3). Otherwise a peer that was cut off for a night would depose
// the manager of a hundred peers. A manager that claimed anew, once or more often, has r
// to be acknowledged again.
func (c *s3) yields(p int32, o *peerRecord, out group.Persist) {
	s := o.find(out.Group)
	if s == nil || s.role != feedring.RoleManager || s.accepted.Term != s.term || out.State.Term == s.written.Term {
		return
	}
	anew := s.knownClaim.Claimant == c.cfg.Name(p) && s.knownClaim != s.term // the role is not told again
	for own, made := range c.claims {
		if anew && own.by == p && own.group == s.group && own.number > s.term.Number && c.cfg.Now()-made.at >= c.cfg.Refresh {
			return
		}
	}
	c.Judge("S3 of a manager that steps down")
	if provisional(o.given.Message) {
		c.Fail("S3", "%s steps down from %v, which others follow, for %v, which nobody does", c.cfg.Name(p), s.term, out.State.Term)
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
