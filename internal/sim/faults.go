package sim

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
)

// fault is one thing that goes wrong, and is mended after a time.
type fault struct {
	name   string
	weight int
	begin  func(s *scenario)
	reach  reach
}

// reach is what a fault strikes.
type reach bool

const (
	somebody   reach = false // in a large network it strikes so much more often that a peer lives through as many
	everywhere reach = true  // a whole network, as often in a large one as in a small one
)

// faults lists what may go wrong. A new one is a line here.
var faults = []fault{
	{"crash", 6, (*scenario).crashOne, somebody},
	{"crash of a leader", 6, (*scenario).crashLeader, somebody},
	{"crash of both leaders", 2, (*scenario).crashLeaders, somebody},
	{"lost store", 2, (*scenario).loseStore, somebody},
	{"quick restarts", 2, (*scenario).churn, somebody},
	{"whole group down", 1, (*scenario).crashGroup, somebody},
	{"stop", 4, (*scenario).stopOne, somebody},
	{"stop of a leader", 4, (*scenario).stopLeader, somebody},
	{"departure", 4, (*scenario).departOne, somebody},
	{"departure of a leader", 2, (*scenario).departLeader, somebody},
	{"one-way cut", 4, (*scenario).cutOneWay, somebody},
	{"cut between two", 4, (*scenario).cutPair, somebody},
	{"leader cut from its secondary", 3, (*scenario).cutLeaders, somebody},
	{"partition", 4, (*scenario).partition, everywhere},
	{"one alone", 3, (*scenario).isolate, somebody},
	{"group split", 3, (*scenario).splitGroup, somebody},
	{"loss", 4, (*scenario).loss, everywhere},
	{"repetition", 2, (*scenario).repetition, everywhere},
	{"disorder", 2, (*scenario).disorder, everywhere},
	{"slow network", 2, (*scenario).slowNetwork, everywhere},
	{"slow node", 3, (*scenario).slowNode, somebody},
	{"slow disk", 3, (*scenario).slowDisk, somebody},
	{"full disk", 2, (*scenario).fullDisk, somebody},
	{"client vanishes", 4, (*scenario).clientVanishes, somebody},
	{"theme left and entered again", 2, (*scenario).leaveTheme, somebody},
}

func (s *scenario) anyNode() *node { return s.nodes[s.random.IntN(len(s.nodes))] }

func (s *scenario) anyTheme() feedring.Theme { return s.themes[s.random.IntN(len(s.themes))] }

// leader is the manager or the secondary of some group; nil: there is none.
func (s *scenario) leader() *node {
	role := feedring.RoleManager
	if s.often(3) {
		role = feedring.RoleSecondary
	}
	return s.who(s.anyTheme(), role)
}

// mend undoes a fault later, or when the faults end, whatever is first.
func (s *scenario) mend(least, most time.Duration, undo func()) {
	done := false
	once := func() {
		if !done {
			done = true
			undo()
		}
	}
	s.mends = append(s.mends, once)
	s.after(s.between(least, most), once)
}

func (s *scenario) fail(n *node) {
	if n == nil || !n.up {
		return
	}
	s.trouble(n)
	s.crash(n)
	s.mend(50*time.Millisecond, 90*time.Second, func() { s.revive(n) })
}

// revive starts a node again that is down.
func (s *scenario) revive(n *node) {
	if n.up || n.gone {
		return
	}
	s.trouble(n)
	if s.often(2) { // it knows others from before
		n.through = []int32{s.anyNode().index, s.anyNode().index, s.nodes[0].index}
		n.through = slices.DeleteFunc(n.through, func(i int32) bool { return i == n.index })
		n.through = s.withSomebody(n, n.through)
	}
	s.start(n)
}

func (s *scenario) crashOne() { s.fail(s.anyNode()) }

func (s *scenario) crashLeader() { s.fail(s.leader()) }

func (s *scenario) crashLeaders() {
	theme := s.anyTheme()
	manager, secondary := s.who(theme, feedring.RoleManager), s.who(theme, feedring.RoleSecondary)
	s.fail(manager)
	s.fail(secondary)
}

func (s *scenario) loseStore() {
	n := s.anyNode()
	if !n.up {
		return
	}
	s.trouble(n)
	s.crash(n)
	s.lose(n)
	s.orphan()
	s.mend(3*time.Second, 90*time.Second, func() { s.revive(n) })
}

func (s *scenario) churn() {
	n := s.anyNode()
	for i := range time.Duration(4) {
		s.after(i*3*time.Second, func() {
			if !s.healed {
				s.trouble(n)
				s.crash(n)
				s.mend(50*time.Millisecond, 2*time.Second, func() { s.revive(n) })
			}
		})
	}
}

func (s *scenario) halt(n *node) {
	if n == nil || !n.runs() {
		return
	}
	s.trouble(n)
	s.pause(n)
	s.mend(500*time.Millisecond, 60*time.Second, func() {
		s.trouble(n)
		s.resume(n)
	})
}

func (s *scenario) stopOne()    { s.halt(s.anyNode()) }
func (s *scenario) stopLeader() { s.halt(s.leader()) }

func (s *scenario) goAway(n *node) {
	if n == nil || !n.runs() {
		return
	}
	s.trouble(n)
	s.tracef("--- %s departs", n.id)
	life := n.life
	s.step(n, peer.Depart{})
	s.after(5*time.Second, func() {
		if n.up && n.life == life {
			s.crash(n) // the process ends, whatever the machine waits for
		}
	})
	s.mend(6*time.Second, 90*time.Second, func() {
		if n.life == life {
			s.crash(n)
		}
		s.revive(n)
	})
}

func (s *scenario) departOne()    { s.goAway(s.anyNode()) }
func (s *scenario) departLeader() { s.goAway(s.leader()) }

// separate cuts the links for which apart says so, for a while.
func (s *scenario) separate(text string, apart func(from, to int32) bool) {
	s.mend(2*time.Second, 80*time.Second, s.cut(text, apart))
}

// cut cuts the links for which apart says so, and returns what heals them.
func (s *scenario) cut(text string, apart func(from, to int32) bool) (heal func()) {
	s.tracef("--- cut: %s", text)
	var cut [][2]int32
	for a := range int32(len(s.World.nodes)) {
		for b := range int32(len(s.World.nodes)) {
			if a != b && apart(a, b) && s.network.open(a, b) {
				s.network.cut(a, b, s.now)
				cut = append(cut, [2]int32{a, b})
			}
		}
	}
	return func() {
		s.tracef("--- healed: %s", text)
		for _, l := range cut {
			s.network.heal(l[0], l[1], s.now)
		}
	}
}

// pair is two members of some group; nil: it has not so many.
func (s *scenario) pair() (a, b *node) {
	members := s.members(s.anyTheme())
	if len(members) < 2 {
		return nil, nil
	}
	i := s.random.IntN(len(members))
	return members[i], members[(i+1+s.random.IntN(len(members)-1))%len(members)]
}

func (s *scenario) cutOneWay() {
	a, b := s.pair()
	if a == nil {
		return
	}
	s.separate(string(a.id+" to "+b.id), func(from, to int32) bool { return from == a.index && to == b.index })
}

func (s *scenario) cutPair() {
	a, b := s.pair()
	if a == nil {
		return
	}
	s.separate(string(a.id+" and "+b.id), func(from, to int32) bool {
		return from == a.index && to == b.index || from == b.index && to == a.index
	})
}

func (s *scenario) cutLeaders() {
	theme := s.anyTheme()
	a, b := s.who(theme, feedring.RoleManager), s.who(theme, feedring.RoleSecondary)
	if a == nil || b == nil {
		return
	}
	ways := s.random.IntN(3)
	s.separate(string(a.id+" and its secondary "+b.id), func(from, to int32) bool {
		return ways != 0 && from == a.index && to == b.index || ways != 1 && from == b.index && to == a.index
	})
}

func (s *scenario) partition() {
	side := make([]bool, len(s.World.nodes))
	for i := range side {
		side[i] = s.often(2)
	}
	s.separate("partition", func(from, to int32) bool { return side[from] != side[to] })
}

func (s *scenario) isolate() {
	n := s.anyNode()
	if l := s.leader(); l != nil && s.often(2) {
		n = l
	}
	s.cutOffOne(n, s.random.IntN(4))
}

// cutOffOne cuts a node off from all: 0, what it is sent; 1, what it sends; else
// both.
func (s *scenario) cutOffOne(n *node, ways int) {
	s.separate(string(n.id)+" alone", func(from, to int32) bool {
		return ways != 0 && from == n.index || ways != 1 && to == n.index
	})
}

func (s *scenario) splitGroup() {
	members := s.members(s.anyTheme())
	side := make([]int, len(s.World.nodes))
	for _, n := range members {
		side[n.index] = 1 + s.random.IntN(2)
	}
	s.separate("group split", func(from, to int32) bool { return side[from] != 0 && side[to] != 0 && side[from] != side[to] })
}

// change changes the network for a while.
func (s *scenario) change(text string, to func(*Conditions)) { s.changeUntil(text, to, func() {}) }

// changeUntil changes the network for a while, and then calls end.
func (s *scenario) changeUntil(text string, to func(*Conditions), end func()) {
	s.tracef("--- network: %s", text)
	to(&s.network.conditions)
	s.mend(2*time.Second, 60*time.Second, func() {
		end()
		s.tracef("--- network as before")
		s.network.conditions = s.cfg.Conditions
		s.network.rough, s.network.lossy = false, s.network.clears(s.now)
	})
	now := &s.network.conditions
	slow := 2*now.Delay+8*now.Jitter > s.cfg.Peer.Refresh/20 // a prober's four ways take longer than the window
	s.network.rough = slow || now.Loss > 0 || now.Disorder
}

func (s *scenario) loss() {
	share := []float64{0.02, 0.05, 0.2, 0.5}[s.random.IntN(4)]
	s.change("loss", func(w *Conditions) { w.Loss = share })
}

func (s *scenario) repetition() { s.change("repetition", func(w *Conditions) { w.Twice = 0.3 }) }

func (s *scenario) disorder() {
	s.change("disorder", func(w *Conditions) { w.Disorder, w.Jitter = true, 200*time.Millisecond })
}

func (s *scenario) slowNetwork() {
	delay := 50 * time.Millisecond << s.random.IntN(6)
	s.change("slow", func(w *Conditions) { w.Delay, w.Jitter = delay, delay/4 })
}

func (s *scenario) slowNode() {
	n := s.anyNode()
	every := s.between(50*time.Millisecond, 3*time.Second)
	s.tracef("--- %s is slow: runs %v of %v", n.id, every/10, every)
	n.lag = lag{every: every, runs: every / 10}
	s.mend(5*time.Second, 60*time.Second, func() {
		s.trouble(n)
		n.lag = lag{}
	})
}

func (s *scenario) slowDisk() {
	s.slowDiskOf(s.anyNode())
}

func (s *scenario) slowDiskOf(n *node) {
	n.slow = s.between(10*time.Millisecond, 8*time.Second)
	s.tracef("--- %s has a slow disk: %v", n.id, n.slow)
	s.mend(5*time.Second, 60*time.Second, func() { n.slow = 0 })
}

func (s *scenario) fullDisk() {
	n := s.anyNode()
	n.full = true
	s.tracef("--- %s has a full disk", n.id)
	s.mend(time.Second, 40*time.Second, func() { n.full = false })
}

func (s *scenario) clientVanishes() {
	if c := s.anyClient(); c != nil {
		s.vanish(c)
		s.mend(0, 30*time.Second, s.newFollower)
	}
}

func (s *scenario) leaveTheme() {
	n := s.anyNode()
	if !n.runs() || len(n.offer.Feeds) == 0 {
		return
	}
	s.offerNothing(n)
	s.mend(20*time.Millisecond, 30*time.Second, func() { s.offerAgain(n) })
}

// offerNothing takes all feeds of a node out.
func (s *scenario) offerNothing(n *node) {
	s.trouble(n)
	s.tracef("--- %s offers nothing", n.id)
	n.offer = peer.Offer{Addrs: n.offer.Addrs, Feeds: map[feedring.Theme][]feedring.Feed{}}
	s.step(n, n.offer)
}

func (s *scenario) offerAgain(n *node) {
	s.trouble(n)
	n.offer = s.offerOf(n)
	s.tracef("--- %s offers again", n.id)
	if n.paused { // it takes that when it goes on
		s.report(n, 0, n.offer)
	}
	s.step(n, n.offer)
	s.fetchOrigins(n)
}
