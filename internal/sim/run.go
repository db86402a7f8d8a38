package sim

import (
	"runtime/debug"
	"time"

	"github.com/feedring/feedring/internal/sim/check"
)

// Outcome is what became of one seed.
type Outcome struct {
	Seed      uint64
	Violation *check.Violation // nil: every invariant held
	Virtual   time.Duration
	Steps     uint64
	Faults    int
	Hash      uint64
	Judged    map[string]int // how often checks had something to look at that seldom have
}

// Faults plays one seed: ten minutes of faults, then quiet, in which what was
// promised must come true. trace is given one line for each thing that
// happens; nil: nobody reads. It uses no other goroutine.
func Faults(seed uint64, trace func(line string)) Outcome {
	return newScenario(seed, nil, trace).faulty()
}

// Large plays one seed as Faults does, in a network of at least so many peers:
// minutes of a core for a thousand.
func Large(seed uint64, peers int, trace func(line string)) Outcome {
	return newScenario(seed, large(peers), trace).faulty()
}

// Hostile plays one seed as Faults does, in which members turn hostile as well.
func Hostile(seed uint64, trace func(line string)) Outcome {
	s := newScenario(seed, nil, trace)
	return s.outcome(s.amongStrangers)
}

func (s *scenario) faulty() Outcome { return s.outcome(s.troubles) }

// troubles are ten minutes in which something goes wrong again and again.
func (s *scenario) troubles() {
	s.audience()
	s.after(warm, s.nextFault)
	s.Run(troubled)
}

// outcome plays what goes wrong, then the quiet.
func (s *scenario) outcome(troubles func()) Outcome {
	s.play(troubles)
	if v := s.Violation(); v != nil {
		s.tracef("*** %v", v)
	}
	return Outcome{Seed: s.cfg.Seed, Violation: s.Violation(), Virtual: s.now, Steps: s.steps, Faults: s.count, Hash: s.hash, Judged: s.witness.Judged()}
}

// play plays the seed. A panic is a violation like any other: the next seeds
// are played all the same.
func (s *scenario) play(troubles func()) {
	defer func() {
		if p := recover(); p != nil {
			s.witness.Fail("panic", "%v\n%s", p, debug.Stack())
		}
	}()
	troubles()
	if s.Violation() == nil {
		s.heal()
		s.settle()
	}
}
