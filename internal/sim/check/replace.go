package check

import (
	"time"

	"github.com/feedring/feedring"
)

// replace checks that a secondary that does not hear its manager, while others do,
// is replaced after k objections (docs/protocol.md 5.6).
type replace struct{ *record }

// unheard follows a secondary that does not hear its manager, whom others reach: after
// k objections in a row another is to be named (docs/protocol.md 5.6). It would
// inherit what it was never told.
type unheard struct {
	intents int           // since it last heard the manager, under its term
	since   time.Duration // when it sent the first of them
	nonce   uint64        // of the last
}

// names notes whom a manager tells to be its secondary.
func (s *membership) names(secondary feedring.PeerID, now time.Duration) {
	if secondary != s.named {
		s.named, s.namedAt = secondary, now
	}
}

// asks is called with each intention: by the one after k, each of which somebody
// objected to, the manager has named another.
func (c *replace) asks(p int32, s *membership, nonce uint64) {
	if nonce == s.unheard.nonce { // it goes to several
		return
	}
	s.unheard.nonce = nonce
	if s.unheard.intents == 0 {
		s.unheard.since = c.cfg.Now()
	}
	s.unheard.intents++
	lead := c.cfg.Index(s.term.Claimant)
	if s.role != feedring.RoleSecondary || s.unheard.intents != c.cfg.Attempts+1 || lead < 0 || !c.between(p, lead, s) {
		return
	}
	c.Judge("replace")
	if at := c.peer(lead).membership(s.group); at.named == c.cfg.Name(p) && at.namedAt < s.unheard.since {
		c.Fail("replace", "%s is still the secondary of %s, which it does not hear, after %d intentions to which others objected",
			c.cfg.Name(p), c.cfg.Name(lead), c.cfg.Attempts)
	}
}

// between reports whether others are there through whom a secondary can ask its
// manager, and nothing is wrong with any of them since it was last heard.
func (c *replace) between(p, lead int32, s *membership) bool {
	others, long := 0, s.unheard.since-c.cfg.Refresh
	if !c.manages(lead, s, long) || !c.cfg.Steady(lead, long) || !c.cfg.Steady(p, long) {
		return false
	}
	for q := range int32(len(c.peers)) {
		if q == p || q == lead || !c.cfg.Runs(q) {
			continue
		}
		at := c.peer(q).find(s.group)
		if at == nil || at.role == feedring.RoleNone {
			continue
		}
		if !c.followsLong(q, s, long) || !c.cfg.Steady(q, long) || !c.reach(p, q, long) || !c.reach(q, lead, long) {
			return false
		}
		others++
	}
	return others > 0
}
