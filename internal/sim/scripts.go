package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// script is what chance brings about too rarely: what goes wrong in the world of
// a seed, in order, before the quiet.
type script struct {
	name string
	play func(s *scenario)
}

// scripts lists them. A new one is a line here.
var scripts = []script{
	{"group cut off", (*scenario).cutOff},
	{"asleep in doubt", (*scenario).asleep},
}

// Scripted plays a script in the world of a seed, and the quiet after it, as
// Faults does. It fails where there is no such script.
func Scripted(name string, seed uint64, trace func(line string)) (Outcome, error) {
	i := slices.IndexFunc(scripts, func(x script) bool { return x.name == name })
	if i < 0 {
		return Outcome{}, fmt.Errorf("no script is named %q", name)
	}
	s := newScenario(seed, nil, trace)
	return s.outcome(func() { scripts[i].play(s) }), nil
}

// formed is by when groups agree and maps are level.
const formed = 2 * time.Minute

// cutOff has nobody reach a group for long, that goes on within. Nobody reads,
// so that its row on the map says afterwards what it said before.
func (s *scenario) cutOff() {
	s.Run(formed)
	members := s.indexes(s.themes[s.random.IntN(len(s.themes))])
	heal := s.cut("group cut off", func(from, to int32) bool {
		return slices.Contains(members, from) != slices.Contains(members, to)
	})
	s.Run(s.now + 2*mourning)
	heal()
}

// asleep stops a secondary that does not hear its manager as soon as it has asked
// the others, until the time that they have to object in is long over. What they
// said waits for it: it must not take the place of who lives (S3).
func (s *scenario) asleep() {
	s.Run(formed)
	theme := s.themes[s.random.IntN(len(s.themes))]
	manager, second := s.who(theme, feedring.RoleManager), s.who(theme, feedring.RoleSecondary)
	if manager == nil || second == nil {
		return
	}
	r, began := s.cfg.Peer.Refresh, s.now
	heal := s.cut("a secondary", func(from, to int32) bool { return from == manager.index && to == second.index })
	for s.now < began+3*r && !s.witness.Suspects(second.index, theme, began) {
		s.Run(s.now + time.Millisecond)
	}
	s.trouble(second)
	s.pause(second)
	s.Run(s.now + r)
	s.resume(second)
	s.Run(s.now + r/4)
	if second.role(theme.Group()) == feedring.RoleManager {
		s.witness.Fail("S3", "%s takes the place of %s for what it slept through", second.id, manager.id)
	}
	heal()
}
