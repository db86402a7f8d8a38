package check

import "github.com/feedring/feedring/group"

// s4 checks that a lower term than the accepted one is never obeyed.
type s4 struct{ *record }

// header checks S4: nobody speaks under a term below the one that it accepted.
func (c *s4) header(p int32, s *membership, h group.Header, m group.Message) {
	switch m := m.(type) {
	case group.Join:
		if m.Row.Peer != c.cfg.Name(p) {
			return // passed on as it came
		}
	case group.Replace:
		if m.Secondary != c.cfg.Name(p) {
			return
		}
	case group.Place:
		if c.cfg.Membership(p, s.theme) == nil {
			return // by the map, of a group that it has left
		}
	}
	if h.Term.Compare(s.accepted.Term) < 0 && !h.Term.IsZero() {
		c.Fail("S4", "%s sends %s under %v and accepted %v", c.cfg.Name(p), m.Verb(), h.Term, s.accepted.Term)
	}
	// A claim of its own is told before the role is: see role.
	if h.Term != s.term && h.Term != s.accepted.Term && h.Term.Claimant != c.cfg.Name(p) {
		s.follows(h.Term, c.cfg.Now())
	}
}

// obeys checks that a peer does not answer a manager of a lower term than it
// accepted (S4).
func (c *s4) obeys(p int32, o *peerRecord, s *membership, h group.Header) {
	if o.carry != nil && o.carry.Term.Compare(s.accepted.Term) < 0 {
		c.Fail("S4", "%s obeys %v and accepted %v", c.cfg.Name(p), o.carry.Term, s.accepted.Term)
	}
	if o.carry != nil && h.Term == o.carry.Term && h.Term != s.term {
		s.follows(h.Term, c.cfg.Now())
	}
}

// assigned checks that no place is kept on the word of a lower term (S4).
func (c *s4) assigned(p int32, o *peerRecord, s *membership, m group.Assigned) {
	if a, ok := o.given.Message.(group.Assign); ok && m.OK && a.Header.Term.Compare(s.accepted.Term) < 0 {
		c.Fail("S4", "%s keeps a place for %v and accepted %v", c.cfg.Name(p), a.Header.Term, s.accepted.Term)
	}
}
