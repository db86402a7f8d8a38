package explore

import "slices"

// outcome is what comes of a state without further faults: how many units
// until one manager is followed by all for ever, and who it is.
type outcome uint16

const (
	forEver   = 0xff // in place of the units: it never is
	noManager = 0xff
	// patience is how many units a run without faults may take until it is in
	// a circle, and restless how many steps before time passes: messages that
	// answer each other for ever are no better than silence.
	patience = 100 * unitsPerRefresh
	restless = 2000
	// promised is by when invariant L1 wants one manager that all follow.
	promised = 3 * unitsPerRefresh
)

func newOutcome(units int, manager uint8) outcome {
	return outcome(manager)<<8 | outcome(min(units, forEver-1))
}

func (o outcome) bad() bool      { return o&0xff == forEver }
func (o outcome) late() bool     { return !o.bad() && o.units() > promised }
func (o outcome) units() int     { return int(o & 0xff) }
func (o outcome) manager() uint8 { return uint8(o >> 8) }

// settled returns the one manager that all live peers follow.
func (x *explorer) settled(s *state) uint8 {
	manager := noManager
	for p := range s.n {
		b := x.interner.briefs[s.peers[p]]
		if !b.up {
			continue
		}
		follows := int(b.manager)
		if manager == noManager && follows >= 0 {
			manager = follows
		}
		if follows < 0 || follows != manager || b.serving != (follows == p) {
			return noManager
		}
	}
	if manager != noManager && !x.interner.briefs[s.peers[manager]].up {
		return noManager
	}
	return uint8(manager)
}

// order is one of two in which a run without faults goes on.
type order uint8

const (
	forwards  order = iota // of peers, messages and timers
	backwards              // the last one first
)

func (o order) turn(i, of int) int {
	if o == backwards {
		return of - 1 - i
	}
	return i
}

// stage is one state of a run without faults.
type stage struct {
	key     uint64
	manager uint8
	passed  bool // a unit of time passes behind it
}

// faultless returns s with all faults at an end; false where nobody is up.
func (x *explorer) faultless(s *state) (*state, bool) {
	c := s.clone()
	c.cut, c.stopped, c.left = 0, 0, 0
	for p := range c.n {
		if x.interner.briefs[c.peers[p]].up {
			return c, true
		}
	}
	return nil, false
}

// judge runs s on without faults, in an order, until it comes into a circle or to a state
// whose outcome is known.
func (x *explorer) judge(s *state, by order) outcome {
	run, ok := x.faultless(s)
	if !ok {
		return newOutcome(0, noManager)
	}
	stages := x.stages[:0]
	place := map[uint64]int{}
	end := outcome(forEver)
	circle := -1
	for units, steps := 0, 0; units < patience && steps < restless; steps++ {
		x.scratch = run.encode(x.scratch[:0])
		key := hash(x.scratch)
		if o, ok := x.outcomes[by].get(key); ok {
			end = outcome(o)
			break
		}
		if i, ok := place[key]; ok {
			circle = i
			break
		}
		st := stage{key: key, manager: x.settled(run)}
		place[key] = len(stages)
		if run, st.passed = x.onward(run, by, nil); st.passed {
			units++
			steps = 0
		}
		stages = append(stages, st)
	}
	x.stages = stages
	return x.conclude(stages, by, circle, end)
}

// conclude goes back from the end of a run, and keeps what it finds.
func (x *explorer) conclude(stages []stage, by order, circle int, end outcome) outcome {
	if circle >= 0 {
		end = newOutcome(0, stages[circle].manager)
		for _, st := range stages[circle:] {
			if st.manager == noManager || st.manager != end.manager() {
				end = forEver
			}
		}
	}
	for i := len(stages) - 1; i >= 0; i-- {
		st := stages[i]
		if inCircle := circle >= 0 && i >= circle; !end.bad() && !inCircle {
			units := end.units()
			if st.passed && (units > 0 || st.manager != end.manager()) {
				units++
			}
			if units == 0 && st.manager != end.manager() {
				units = 1
			}
			end = newOutcome(units, end.manager())
		}
		x.outcomes[by].put(st.key, uint16(end))
	}
	return end
}

// onward lets happen what comes next without faults, in a fixed and fair
// order: all that is under way arrives but at stopped peers, or a timer fires, or time passes,
// with which the map tells managers of each other. It tells what happens to
// which state; tell may be nil.
func (x *explorer) onward(s *state, by order, tell func(*state, action)) (next *state, passed bool) {
	do := func(a action) {
		if tell != nil {
			tell(s, a)
		}
		s = x.apply(s, a)
	}
	flights := slices.DeleteFunc(slices.Clone(s.flights), func(f flight) bool { return s.isStopped(int(f.to)) })
	if len(flights) > 0 {
		for i := range flights {
			f := flights[by.turn(i, len(flights))]
			if i := slices.IndexFunc(s.flights, f.sameLane); i >= 0 {
				do(action{deed: arrive, a: uint8(i)})
			}
		}
		return s, false
	}
	for i := range s.n {
		if p := by.turn(i, s.n); x.isDue(s, p) {
			do(action{deed: timer, a: uint8(p)})
			return s, false
		}
	}
	do(action{deed: pass})
	x.meetings(s, do)
	return s, true
}
