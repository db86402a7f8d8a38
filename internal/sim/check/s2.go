package check

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// s2 checks that there are never two managers under one term, and that a peer
// follows one.
type s2 struct{ *record }

func (c *s2) adopts(p int32, o *peerRecord, s *membership, t feedring.Term) {
	name := c.cfg.Name(p)
	if t.Claimant == name {
		if a, ok := o.given.Message.(group.BeaconAnswer); !ok || a.Header.Term != t {
			c.Fail("S2", "%s accepts its own claim %v, which nobody acknowledged", name, t)
		}
		return
	}
	if o.carry == nil || o.carry.Term != t {
		c.Fail("S2", "%s accepts %v without a claim of its claimant", name, t)
		return
	}
	c.claimed(p, s, *o.carry)
}

// claimed checks that a claim that a peer tells was made by its claimant, and
// is on its disk (S2).
func (c *s2) claimed(p int32, s *membership, claim group.Claim) {
	if claim.Term == s.knownClaim {
		return
	}
	key := c.claimOf(s, claim.Term)
	if claim.Term.Claimant == c.cfg.Name(p) {
		if claim.Term.Number > max(s.accepted.Highest, s.accepted.Term.Number) {
			c.Fail("S2", "%s claims %d, which is not on its disk", claim.Term.Claimant, claim.Term.Number)
		}
		if _, known := c.claims[key]; !known {
			c.claims[key] = claimRecord{life: c.peer(p).life, at: c.cfg.Now()}
			s.claimed, s.roomRequests = claim.Term, nil // who begins to manage counts anew
			s.granted.unsure = c.cfg.Now()              // and gives lookups up that a check counts as granted
		}
	} else if _, known := c.claims[key]; !known && !(key.by >= 0 && c.peer(key.by).empty) {
		c.Fail("S2", "%s tells a claim %v that %s never made", c.cfg.Name(p), claim.Term, claim.Term.Claimant)
	}
	s.knownClaim = claim.Term
}

// begins checks where a peer begins to manage.
func (c *s2) begins(p int32, o *peerRecord, s *membership, t feedring.Term) {
	key := c.claimOf(s, t)
	was, known := c.claims[key]
	switch name := c.cfg.Name(p); {
	case t.Claimant != name:
		c.Fail("S2", "%s manages under %v", name, t)
	case known && was.served && was.life != o.life:
		c.Fail("S2", "%s manages under %v in life %d and did so in life %d", name, t, o.life, was.life)
	case t.Number > s.accepted.Highest:
		c.Fail("S2", "%s manages under %v, which is not on its disk", name, t)
	}
	c.claims[key] = claimRecord{life: o.life, served: true, at: was.at}
}
