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
	{"late objection", (*scenario).objectLate},
	{"claimed anew", (*scenario).claimAnew},
	{"dropped too early", (*scenario).dropEarly},
	{"polled of who dropped", (*scenario).pollDropped},
	{"usurped", (*scenario).usurp},
	{"hostile members", (*scenario).amongStrangers},
	{"orphans", (*scenario).abandon},
	{"turns in vain", (*scenario).lookInVain},
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

// runTo lets time pass until something is so, or until a moment. It looks often
// enough to see a message before the answer comes.
func (s *scenario) runTo(end time.Duration, so func() bool) bool {
	for !so() {
		if s.now >= end || s.Violation() != nil {
			return false
		}
		s.Run(s.now + 200*time.Microsecond)
	}
	return true
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
	s.runTo(began+3*r, func() bool { return s.witness.Suspects(second.index, theme, began) })
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

// objectLate has a peer sleep through the manager's answer to its probe, and wake up
// when that manager is gone and the secondary asks again: what the peer says then
// is about the manager of before, and must not hold up the secondary.
func (s *scenario) objectLate() {
	s.Run(formed)
	theme := s.themes[s.random.IntN(len(s.themes))]
	manager, second := s.who(theme, feedring.RoleManager), s.who(theme, feedring.RoleSecondary)
	i := slices.IndexFunc(s.members(theme), func(n *node) bool { return n.role(theme.Group()) == feedring.RolePeer })
	if manager == nil || second == nil || i < 0 {
		return
	}
	witness, r := s.members(theme)[i], s.cfg.Peer.Refresh
	heal := s.cut("a secondary", func(from, to int32) bool { return from == manager.index && to == second.index })
	defer heal()
	began := s.now
	if !s.runTo(began+3*r, func() bool { return s.witness.Probes(witness.index, theme, began) }) {
		return
	}
	s.trouble(witness)
	s.pause(witness)
	s.Run(s.now + r/4) // the others object
	s.fail(manager)
	crashed := s.now
	if !s.runTo(crashed+3*r, func() bool { return s.witness.Suspects(second.index, theme, crashed) }) {
		return
	}
	s.resume(witness)
	s.Run(s.now + r/4 + r/20)
	if second.role(theme.Group()) != feedring.RoleManager {
		s.witness.Fail("takeover", "%s does not take the place of %s, for what %s was told before that crashed", second.id, manager.id, witness.id)
	}
}

// claimAnew has a manager claim anew, since two of its members were cut off and one
// of them accepted the other, and none of its members can say yet that it follows
// that; and just then lets it hear of one that was cut off alone, and started again so
// often that its number is higher. Nobody follows that one (S3).
func (s *scenario) claimAnew() {
	s.Run(formed)
	theme := s.themes[s.random.IntN(len(s.themes))]
	manager := s.who(theme, feedring.RoleManager)
	others := slices.DeleteFunc(s.members(theme), func(n *node) bool { return n == manager })
	if manager == nil || len(others) < 4 {
		return
	}
	g, r := theme.Group(), s.cfg.Peer.Refresh
	alone, pair := others[0], others[1:3]
	free := s.cut("one alone", func(from, to int32) bool { return (from == alone.index) != (to == alone.index) })
	join := s.cut("two of a group", func(from, to int32) bool {
		of := func(i int32) bool { return i == pair[0].index || i == pair[1].index }
		return of(from) != of(to)
	})
	defer free()
	defer join()
	for range 4 {
		s.trouble(alone)
		s.crash(alone)
		s.start(alone)
		s.runTo(s.now+6*r, func() bool { return alone.role(g) == feedring.RoleManager })
	}
	followed := func(n *node) bool {
		v := n.machine.Membership(theme)
		return v != nil && v.Role == feedring.RoleManager && v.Acknowledged
	}
	s.runTo(s.now+6*r, func() bool { return followed(pair[0]) || followed(pair[1]) })
	if !followed(pair[0]) {
		pair[0], pair[1] = pair[1], pair[0]
	}
	was := manager.machine.Membership(theme)
	if !followed(pair[0]) || was == nil || !followed(manager) {
		return
	}
	for _, n := range pair {
		s.trouble(n)
		s.crash(n)
	}
	s.mends = append(s.mends, func() { s.revive(pair[0]) })
	join()
	s.start(pair[1]) // it has accepted a claim, and shows it to nobody
	anew := func() bool {
		v := manager.machine.Membership(theme)
		return v != nil && v.Role == feedring.RoleManager && v.Term != was.Term
	}
	if s.runTo(s.now+4*r, anew) {
		deaf := s.cut("a manager", func(from, to int32) bool { return to == manager.index })
		free()
		s.network.heal(alone.index, manager.index, s.now)
		s.Run(s.now + r)
		deaf()
	}
}

// dropEarly has members drop what is fresh, since their clocks are ahead, and start again
// with the right time. They must not promise what they dropped (S9).
func (s *scenario) dropEarly() {
	s.Run(formed)
	theme, r := s.themes[s.random.IntN(len(s.themes))], s.cfg.Peer.Refresh
	for _, n := range s.members(theme) {
		if !n.up || n.role(theme.Group()) != feedring.RolePeer {
			continue
		}
		s.trouble(n)
		before := n.disk.DroppedTo(theme)
		s.setClock(n, s.cfg.Peer.Freshness-s.between(0, 2*r))
		s.runTo(s.now+3*r, func() bool { return n.disk.DroppedTo(theme) != before })
		s.setRight(n)
		s.crash(n)
		s.start(n)
		s.Run(s.now + r)
	}
}

// pollDropped has a peer that was away reach nobody but the manager, which dropped what
// is fresh meanwhile, since its clock was ahead. The peer gets what came after that, and
// must not promise what came before (S9). Where entries are fresh for a day, what the
// manager drops is of the last minutes, and the peer does not take its word for so much.
func (s *scenario) pollDropped() {
	s.Run(formed)
	theme, r := s.themes[s.random.IntN(len(s.themes))], s.cfg.Peer.Refresh
	manager := s.who(theme, feedring.RoleManager)
	i := slices.IndexFunc(s.members(theme), func(n *node) bool { return n.up && n.role(theme.Group()) == feedring.RolePeer })
	if manager == nil || i < 0 || s.cfg.Peer.Freshness > 10*time.Minute {
		return
	}
	away := s.members(theme)[i]
	s.trouble(away)
	s.crash(away)
	s.Run(s.now + r)
	s.trouble(manager)
	before := manager.disk.DroppedTo(theme)
	s.setClock(manager, s.cfg.Peer.Freshness-s.between(0, r))
	s.runTo(s.now+3*r, func() bool { return manager.disk.DroppedTo(theme) != before })
	s.setRight(manager)
	s.Run(s.now + r)
	heal := s.cut("one that was away", func(from, to int32) bool {
		return from == away.index && to != manager.index || to == away.index && from != manager.index
	})
	away.through = []int32{manager.index}
	s.start(away)
	s.Run(s.now + 3*r)
	heal()
	s.startAnew(manager)
	s.Run(s.now + 6*r) // what nobody could poll of the manager is polled again
}
