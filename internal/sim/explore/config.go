package explore

import (
	"errors"
	"fmt"
	"slices"
)

// unitsPerRefresh is into how many units of time a refresh period falls.
const unitsPerRefresh = 12

// MaxPeers is the size of the largest group that can be explored.
const MaxPeers = 5

// Kinds is a set of faults.
type Kinds uint8

// Kinds of faults.
const (
	Crashes Kinds = 1 << iota
	Cuts
	Losses
	Delays
	Stops
	AllKinds = Crashes | Cuts | Losses | Delays | Stops
)

// Begin says in which state of the group an exploration begins.
type Begin string

// Beginnings.
const (
	Settled  Begin = ""         // one manager, all follow it
	Founding Begin = "founding" // nobody is in the group yet
	// Torn are many states: the group is cut into two parts in one of all ways,
	// one peer or none has crashed, and both parts have had 3r to cope.
	Torn Begin = "torn"
	// Silent are many states: nobody hears the manager of a settled group, for one
	// reason of several, and the first peer is about to suspect it. Claiming are
	// those that go on to a successor, when it is about to claim.
	Silent   Begin = "silent"
	Claiming Begin = "claiming"
)

// Config is one exploration.
type Config struct {
	Peers  int
	Faults int   // the budget, beside what the beginning took; 0: only the orders of messages and timers
	Kinds  Kinds // which faults; zero: all
	Begin  Begin
	// States is how many states to visit, and with Counted how many that it did
	// not count before; 0: all.
	States int
	// Seed draws walks, which reach far states where there are too many to visit
	// all; 0: breadth first, and traces are the shortest.
	Seed uint64
	// Counted counts the groups that no exploration met before; nil: nobody counts.
	Counted *Counted
	// Progress is called from time to time with what was reached; nil: never.
	Progress func(Result)
	// Stop is asked before each state whether to end here; nil: never.
	Stop func() bool
}

// ErrStopped says that Config.Stop ended an exploration before its time.
var ErrStopped = errors.New("explore: stopped")

// Validate returns the first thing that is wrong.
func (c Config) Validate() error {
	switch {
	case c.Peers < 1 || c.Peers > MaxPeers:
		return fmt.Errorf("explore: %d peers: 1 to %d can be explored", c.Peers, MaxPeers)
	case c.Faults < 0 || c.Faults > 255:
		return fmt.Errorf("explore: %d faults are not between 0 and 255", c.Faults)
	case !slices.Contains([]Begin{Settled, Founding, Torn, Silent, Claiming}, c.Begin):
		return fmt.Errorf("explore: nothing begins %q", c.Begin)
	case c.States < 0:
		return fmt.Errorf("explore: %d states: the number is negative", c.States)
	}
	return nil
}

// Result is what an exploration found.
type Result struct {
	Peers       int     `json:"peers"`
	Faults      int     `json:"faults"`
	Begin       Begin   `json:"begin,omitempty"`
	Seed        uint64  `json:"seed,omitempty"`
	States      int     `json:"states"`      // visited, all different
	New         int     `json:"new"`         // of States: those that Counted did not have
	Transitions int     `json:"transitions"` // tried
	Spent       int     `json:"spent"`       // of States: those after the last fault
	Reach       float64 `json:"reach_r"`     // the latest state, in r after the first
	Whole       bool    `json:"whole"`       // there are no more states
	// Of States: those with such a message under way, with another manager than
	// the first peer, and with more than one.
	Intentions    int `json:"intentions"`
	Confirmations int `json:"confirmations"`
	Successors    int `json:"successors"`
	Rivals        int `json:"rivals"`

	Bad      int     `json:"bad"`       // visited states that stay bad for ever
	Late     int     `json:"late"`      // others that take longer than 3r to one manager, which invariant L1 forbids
	Slowest  float64 `json:"slowest_r"` // longest time to one manager after faults end, in r
	Machines int     `json:"machines"`  // different states of single peers
	Messages int     `json:"messages"`  // different messages
	Seconds  float64 `json:"wall_s"`
	// Trace is a way into a bad state, and what follows without
	// faults; empty where none is bad. SlowTrace leads to the slowest good one, a
	// late one if there is any.
	Trace     []string `json:"trace,omitempty"`
	SlowTrace []string `json:"slow_trace,omitempty"`
}
