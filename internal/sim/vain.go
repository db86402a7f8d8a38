package sim

import (
	"slices"
	"time"
)

// lookInVain has peers take their turns at feeds that others offer too, and never look. Their turns go to others, who do.
func (s *scenario) lookInVain() {
	s.cfg.Peer.Every = time.Minute
	s.Run(formed)
	for _, f := range s.feeds {
		if f.turn.Slot > 0 && f.turn.Mirrors && !slices.ContainsFunc(f.origin.feeds, func(o *feed) bool { return o.vain }) {
			s.tracef("--- %s looks in vain at %s", f.node.id, f.origin.url)
			f.vain = true
		}
	}
	r := s.cfg.Peer.Refresh
	for end := s.now + time.Duration(max(1, s.cfg.Peer.Fetchers))*2*30*r + 20*r; s.now < end && s.Violation() == nil; {
		s.Run(s.now + r)
		for _, theme := range s.inhabited() {
			s.witness.TurnsPass(theme, s.offered(theme), s.cfg.Peer.Every)
		}
	}
	for _, f := range s.feeds {
		f.vain = false
	}
}
