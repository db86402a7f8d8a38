package sim

import (
	"time"

	"github.com/feedring/feedring"
)

// dues are by when each group must agree (L1): 3r after the faults, and more where
// docs/rationale.md 16 says so.
type dues map[feedring.Theme]time.Duration

func (s *scenario) dues(t0 time.Duration) dues {
	r, all := s.cfg.Peer.Refresh, dues{}
	for _, theme := range s.inhabited() {
		all[theme] = t0 + 3*r
		switch {
		case s.hermit(theme):
		case s.forgotten(theme):
			all[theme] += 3 * r
		}
	}
	return all
}

// forgotten reports whether nobody of a group was left to be followed: a manager of
// itself alone is not, which the map's old rows may make yield.
func (s *scenario) forgotten(theme feedring.Theme) bool {
	for _, n := range s.members(theme) {
		if n.role(theme.Group()) != feedring.RoleNone && n.machine.Membership(theme).Acknowledged {
			return false
		}
	}
	return true
}

// last is the latest of them, where some group has longer than others; else 0.
func (d dues) last(t0, r time.Duration) (end time.Duration) {
	for _, due := range d {
		if due > t0+4*r {
			end = max(end, due)
		}
	}
	return end
}

// agree lets time pass until each group agrees, and fails where one is late.
func (s *scenario) agree(d dues) bool {
	for s.Violation() == nil {
		next := never
		for _, theme := range s.inhabited() {
			_, why := s.witness.Leader(theme, s.indexes(theme))
			switch {
			case why == "":
			case s.now >= d[theme]:
				s.witness.Fail("L1", "%s: %s, %.0f s after the faults", theme, why, (s.now - s.calm).Seconds())
				return false
			default:
				next = min(next, d[theme])
			}
		}
		if next == never {
			return true
		}
		s.Run(min(next, s.now+s.cfg.Peer.Refresh/4))
	}
	return false
}
