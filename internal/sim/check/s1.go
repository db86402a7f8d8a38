package check

import "github.com/feedring/feedring/group"

// s1 checks that an accepted term never falls, restarts included.
type s1 struct{ *record }

// persists checks what a peer is about to remember of its group.
func (c *s1) persists(p int32, s *membership, is group.State) {
	was := s.written
	switch {
	case is.Term.Compare(s.accepted.Term) < 0:
		c.Fail("S1", "%s accepts %v after %v", c.cfg.Name(p), is.Term, s.accepted.Term)
	case is.Highest < was.Highest, is.Incarnation < was.Incarnation:
		c.Fail("S1", "%s remembers number %d and incarnation %d after %d and %d", c.cfg.Name(p), is.Highest, is.Incarnation, was.Highest, was.Incarnation)
	case is.Term.Number > is.Highest:
		c.Fail("S1", "%s accepts %v and remembers %d as its highest number", c.cfg.Name(p), is.Term, is.Highest)
	}
}

// onDisk checks that a peer follows no term that is not on its disk: it would
// fall at the next crash (S1).
func (c *s1) onDisk(p int32, h group.Header) {
	s := c.peer(p).membership(h.Group)
	if h.Term.Claimant != c.cfg.Name(p) && h.Term.Compare(s.accepted.Term) > 0 {
		c.Fail("S1", "%s follows %v, and %v is on its disk", c.cfg.Name(p), h.Term, s.accepted.Term)
	}
}
