package sim

import (
	"time"

	"github.com/feedring/feedring"
)

// burstsOfLoss loses nearly everything for a moment, again and again.
func (s *scenario) burstsOfLoss() {
	share, over := 0.6+0.4*s.random.Float64(), false
	every := s.between(500*time.Millisecond, 12*time.Second)
	var strike func()
	strike = func() {
		if over {
			return
		}
		s.network.conditions.Loss = share
		s.after(s.between(50*time.Millisecond, 3*time.Second), func() {
			if !over {
				s.network.conditions.Loss = 0
				s.after(s.between(every/2, every), strike)
			}
		})
	}
	strike()
	s.changeUntil("bursts of loss", func(w *Conditions) { w.Loss = share }, func() { over = true })
}

// stopAll stops everybody at once, as a host does that all run on, and lets all go
// on at once.
func (s *scenario) stopAll() {
	var stopped []*node
	for _, n := range s.nodes {
		if n.runs() {
			s.trouble(n)
			s.pause(n)
			stopped = append(stopped, n)
		}
	}
	s.mend(500*time.Millisecond, 60*time.Second, func() {
		for _, n := range stopped {
			s.trouble(n)
			s.resume(n)
		}
	})
}

// strikeLeaders has something happen to a manager and something else to its
// secondary at the same moment.
func (s *scenario) strikeLeaders() {
	theme := s.anyTheme()
	for _, role := range []feedring.Role{feedring.RoleManager, feedring.RoleSecondary} {
		n := s.who(theme, role)
		if n == nil {
			continue
		}
		switch s.random.IntN(5) {
		case 0:
			s.fail(n)
		case 1:
			s.halt(n)
		case 2:
			s.goAway(n)
		case 3:
			s.cutOffOne(n, s.random.IntN(3))
		case 4:
			s.slowDiskOf(n)
		}
	}
}
