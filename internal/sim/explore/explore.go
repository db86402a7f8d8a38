package explore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// explorer is one exploration under way. Whatever it does is determined by
// system and configuration.
type explorer struct {
	cfg       Config
	kinds     Kinds
	cuts      []uint32
	interner  *interner
	roots     []*state
	visited   *set
	outcomes  [2]*table // of each order
	queue     queue
	stopped   bool     // by Config.Stop
	more      bool     // there are states that will not be visited
	counted   int      // states that are known, but for those that an earlier exploration had met
	found     []origin // of each visited state, in the order of discovery
	result    Result
	worst     way   // to the first bad state
	worstBy   order // in which it is bad
	slowest   way
	slowestBy order
	units     int // until there was one manager after the slowest
	last      int // the latest state, in units after the first
	began     time.Time
	way       way      // of a walk
	usual     []action // what may be drawn next
	rare      []action
	odd       []action
	scratch   []byte
	stages    []stage
}

// way leads from one of the roots to a state.
type way struct {
	root    int
	actions []action
}

func (w way) clone() way { return way{w.root, slices.Clone(w.actions)} }

// origin is how a state was first reached. The first ones are the roots.
type origin struct {
	action action
	parent uint32
	units  uint16 // of time since the first state
}

// Run explores, and judges every state that it visits. It blocks until
// cfg.States are visited, there are no more, or cfg.Stop ends it (ErrStopped). It uses one processor, half a GiB
// at most for what can be made again, and a few hundred bytes for each state.
func Run(sys System, cfg Config) (Result, error) {
	if err := cfg.Validate(); err != nil {
		return Result{}, err
	}
	x := newExplorer(cfg)
	if err := x.begin(sys); err != nil {
		return Result{}, err
	}
	if x.explore(); x.stopped {
		return Result{}, ErrStopped
	}
	x.traces()
	return x.report(), nil
}

func newExplorer(cfg Config) *explorer {
	x := &explorer{
		cfg: cfg, kinds: cfg.Kinds, cuts: cutsOf(cfg.Peers), interner: newBook(), began: time.Now(),
		visited: newSet(), outcomes: [2]*table{newTable(), newTable()},
		result: Result{Peers: cfg.Peers, Faults: cfg.Faults, Begin: cfg.Begin, Seed: cfg.Seed},
	}
	if x.kinds == 0 {
		x.kinds = AllKinds
	}
	return x
}

func (x *explorer) explore() {
	if x.cfg.Seed == 0 {
		x.search()
	} else {
		x.wander()
	}
}

// search visits states breadth first.
func (x *explorer) search() {
	for _, s := range x.roots {
		x.discover(s, 0, action{})
	}
	for !x.stop() {
		b, ok := x.queue.pop()
		if !ok {
			x.result.Whole = !x.more
			return
		}
		x.expand(b)
	}
}

// wander walks until enough states are visited. It gives up when a thousand
// walks in a row meet nothing new.
func (x *explorer) wander() {
	chance := rand.New(rand.NewPCG(x.cfg.Seed, 0))
	for idle := 0; idle < 1000 && !x.full() && !x.stop(); idle++ {
		before := x.result.States
		if x.walk(chance); x.result.States > before {
			idle = 0
		}
	}
}

// stop asks whether to end here.
func (x *explorer) stop() bool {
	x.stopped = x.stopped || x.cfg.Stop != nil && x.cfg.Stop()
	return x.stopped
}

// count takes a state that is new, and will be visited, into Counted.
func (x *explorer) count(s *state) {
	x.counted++
	if x.cfg.Counted != nil && !x.cfg.Counted.add(s, x.interner) {
		x.counted--
	}
}

// full says that no more states shall be visited than those that are known.
func (x *explorer) full() bool { return x.cfg.States > 0 && x.counted >= x.cfg.States }

func (x *explorer) report() Result {
	r := x.result
	r.New = x.counted
	r.Machines, r.Messages = len(x.interner.hashes), len(x.interner.messages)
	r.Slowest, r.Reach = float64(x.units)/unitsPerRefresh, float64(x.last)/unitsPerRefresh
	r.Seconds = time.Since(x.began).Seconds()
	return r
}

// begin makes the first state: a group that begins, or one that has settled.
func (x *explorer) begin(sys System) error {
	s := &state{n: x.cfg.Peers}
	peers, sent := sys.Start(s.n)
	for p := range peers {
		s.peers[p] = x.interner.peer(peers[p], happening{})
	}
	for p := range peers {
		for _, e := range x.interner.sent[x.interner.post(sent[p])] {
			x.send(s, flight{from: uint8(p), to: e.to, lane: x.interner.lanes[e.msg], msg: e.msg})
		}
	}
	if x.cfg.Begin != Founding {
		if s = x.settle(s); x.settled(s) == noManager {
			return fmt.Errorf("explore: %d peers found no group that could be explored", s.n)
		}
	}
	x.roots = []*state{s}
	switch x.cfg.Begin {
	case Torn:
		x.roots = x.different(x.torn(s))
	case Silent:
		x.roots = x.silent(s, sight.suspected)
	case Claiming:
		x.roots = x.silent(s, sight.claimed)
	}
	for _, s := range x.roots {
		s.left = uint8(x.cfg.Faults)
	}
	return nil
}

// torn returns what 3r without other faults make of s, for each cut in two
// parts and each peer that may have crashed before it, or none.
func (x *explorer) torn(s *state) (roots []*state) {
	const lasts = 3 * unitsPerRefresh
	for _, c := range x.cuts[:1<<(s.n-1)-1] {
		for crashed := -1; crashed < s.n; crashed++ {
			r := s.clone()
			r.left = 2
			if crashed >= 0 {
				r = x.apply(r, action{deed: crash, a: uint8(crashed)})
			}
			r = x.apply(r, action{deed: cut, b: c})
			for units := 0; units < lasts; {
				var passed bool
				if r, passed = x.onward(r, forwards, nil); passed {
					units++
				}
			}
			roots = append(roots, r)
		}
	}
	return roots
}

// different leaves each state once.
func (x *explorer) different(states []*state) []*state {
	seen := newSet()
	return slices.DeleteFunc(states, func(s *state) bool {
		x.scratch = s.encode(x.scratch[:0])
		return !seen.add(hash(x.scratch))
	})
}

// settle runs s on without faults until a state comes again.
func (x *explorer) settle(s *state) *state {
	been := map[uint64]bool{}
	for units := 0; units < patience; {
		x.scratch = s.encode(x.scratch[:0])
		key := hash(x.scratch)
		if been[key] {
			break
		}
		been[key] = true
		var passed bool
		if s, passed = x.onward(s, forwards, nil); passed {
			units++
		}
	}
	return s
}

// discover queues a state that is new.
func (x *explorer) discover(s *state, parent uint32, a action) {
	x.scratch = s.encode(x.scratch[:0])
	key := hash(x.scratch)
	if x.full() {
		x.more = x.more || !x.visited.has(key)
		return
	}
	if !x.visited.add(key) {
		return
	}
	x.count(s)
	units := 0
	if int(parent) < len(x.found) {
		units = int(x.found[parent].units)
	}
	if a.deed == pass {
		units++
	}
	x.queue.push(x.scratch)
	x.found = append(x.found, origin{a, parent, uint16(min(units, 1<<16-1))})
}

// expand visits a state and finds what it leads to.
func (x *explorer) expand(b []byte) {
	s := &state{n: x.cfg.Peers}
	s.decode(b)
	index := uint32(x.result.States) // states leave the queue in the order of discovery
	x.visit(s, int(x.found[index].units), func() way { return x.wayTo(index) })
	if x.more {
		return // what it leads to would not be visited
	}
	x.actions(s, func(a action) {
		x.result.Transitions++
		x.discover(x.apply(s, a), index, a)
	})
}

func (x *explorer) wayTo(index uint32) way {
	var w way
	for ; int(index) >= len(x.roots); index = x.found[index].parent {
		w.actions = append(w.actions, x.found[index].action)
	}
	slices.Reverse(w.actions)
	w.root = int(index)
	return w
}

// visit counts and judges a state.
func (x *explorer) visit(s *state, units int, to func() way) {
	x.result.States++
	if s.left == 0 {
		x.result.Spent++
	}
	x.last = max(x.last, units)
	seen := x.see(s)
	seen.add(&x.result)
	o, by := x.judge(s, forwards), forwards
	if seen.suspected() && !o.bad() {
		if back := x.judge(s, backwards); back.bad() || back.units() > o.units() {
			o, by = back, backwards
		}
	}
	if o.late() {
		x.result.Late++
	}
	switch {
	case o.bad():
		if x.result.Bad == 0 {
			x.worst, x.worstBy = to().clone(), by
		}
		x.result.Bad++
	case o.units() > x.units:
		x.units, x.slowest, x.slowestBy = o.units(), to().clone(), by
	}
	if x.cfg.Progress != nil && x.result.States%(1<<16) == 0 {
		x.cfg.Progress(x.report())
	}
}
