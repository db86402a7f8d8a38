package check

import (
	"time"

	"github.com/feedring/feedring"
)

// deaf follows a secondary that does not hear its manager, whom others reach: after
// k objections in a row another is to be named (docs/protocol.md 5.6). It would
// inherit what it was never told.
type deaf struct {
	intents int           // since it last heard the manager, under its term
	since   time.Duration // when it sent the first of them
	nonce   uint64        // of the last
}

// names notes whom a manager tells to be its secondary.
func (s *seat) names(secondary feedring.PeerID, now time.Duration) {
	if secondary != s.named {
		s.named, s.namedAt = secondary, now
	}
}

// asks is called with each intention: by the one after k, each of which somebody
// objected to, the manager has named another.
func (w *Witness) asks(p int32, s *seat, nonce uint64) {
	if nonce == s.deaf.nonce { // it goes to several
		return
	}
	s.deaf.nonce = nonce
	if s.deaf.intents == 0 {
		s.deaf.since = w.cfg.Now()
	}
	s.deaf.intents++
	lead := w.cfg.Index(s.term.Claimant)
	if s.role != feedring.RoleSecondary || s.deaf.intents != w.cfg.Attempts+1 || lead < 0 || !w.between(p, lead, s) {
		return
	}
	w.Judge("replace")
	if at := w.of(lead).seat(s.group); at.named == w.cfg.Name(p) && at.namedAt < s.deaf.since {
		w.Fail("replace", "%s is still the secondary of %s, which it does not hear, after %d intentions to which others objected",
			w.cfg.Name(p), w.cfg.Name(lead), w.cfg.Attempts)
	}
}

// between reports whether others are there through whom a secondary can ask its
// manager, and nothing is wrong with any of them since it was last heard.
func (w *Witness) between(p, lead int32, s *seat) bool {
	others, long := 0, s.deaf.since-w.cfg.Refresh
	if !w.manages(lead, s, long) || !w.cfg.Steady(lead, long) || !w.cfg.Steady(p, long) {
		return false
	}
	for q := range int32(len(w.peers)) {
		if q == p || q == lead || !w.cfg.Runs(q) {
			continue
		}
		at := w.of(q).find(s.group)
		if at == nil || at.role == feedring.RoleNone {
			continue
		}
		if !w.followsLong(q, s, long) || !w.cfg.Steady(q, long) || !w.reach(p, q, long) || !w.reach(q, lead, long) {
			return false
		}
		others++
	}
	return others > 0
}
