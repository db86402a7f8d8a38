package node

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
)

const (
	inputQueue = 8192                  // inputs waiting for the machine; posting blocks beyond
	viewEvery  = 20 * time.Millisecond // how old the published view may be
)

// loop owns the machine: one goroutine calls Step, for inputs in the order
// they were posted, and does the outputs. Everybody else sees the machine
// through View, an immutable snapshot. Inputs may be posted before the machine
// is there: they wait for run.
type loop struct {
	machine *peer.Machine
	effects doer
	states  *persister // nil: the machine's states are kept nowhere
	inputs  chan peer.Input
	runs    chan struct{} // closed when run begins
	done    chan struct{}
	view    atomic.Pointer[peer.View]
	start   time.Time
	wall    clock
	viewed  atomic.Int64 // nanoseconds from start to when view was taken
	steps   atomic.Uint64

	clock  sync.Mutex
	passed time.Duration // from start to when the machine's clock was read last
	offset time.Duration // of the machine's clock from start and the monotonic one
}

// doer carries out one output of the machine. It runs on the loop and must not
// block: what takes time is started, and reports back as an input.
type doer interface{ do(peer.Output) }

// clock tells the time; tests set it.
type clock interface{ Now() time.Time }

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func newLoop(start time.Time) *loop {
	l := &loop{inputs: make(chan peer.Input, inputQueue), runs: make(chan struct{}), done: make(chan struct{}), start: start, wall: systemClock{}}
	l.view.Store(&peer.View{})
	return l
}

// begin gives the loop its machine, which began at start, before run.
func (l *loop) begin(m *peer.Machine, effects doer, start time.Time) {
	l.machine, l.effects, l.start = m, effects, start
	l.view.Store(m.View())
}

const (
	// sleepAtLeast is how far the wall clock must be ahead for the machine to have
	// slept.
	sleepAtLeast = time.Minute
	// slew is which part of the time that passes the machine's clock leaves out while
	// it is ahead: what is granted for clocks that run apart.
	slew = 20
)

// Now is the machine's clock, which never falls: wall time at the start, monotonic
// from there, so that a clock that is set a little, or back, does not look like
// silence. While it is ahead of the wall's it runs a twentieth slower: an hour by
// which that was set back is made up for in 20. The monotonic clock stands still
// while the system sleeps, though: by it tickets would have expired when they are
// made, and entries be old when they are new. So the time slept is made up for at
// once.
func (l *loop) Now() time.Time {
	l.clock.Lock()
	defer l.clock.Unlock()
	passed := time.Since(l.start)
	step := max(0, passed-l.passed)
	l.passed += step
	behind := l.wall.Now().Round(0).Sub(l.start.Add(passed + l.offset).Round(0))
	if behind < sleepAtLeast {
		behind = max(-step/slew, min(behind, 0))
	}
	l.offset += behind
	return l.start.Add(passed + l.offset)
}

// Post hands in to the machine. It blocks while the queue is full and returns
// false when the loop is over.
func (l *loop) Post(in peer.Input) bool {
	select {
	case l.inputs <- in:
		return true
	case <-l.done:
		return false
	}
}

// Tell hands in to one group's part of the machine.
func (l *loop) Tell(g feedring.GroupID, in group.Input) { l.Post(peer.In{Group: g, Input: in}) }

// Steps counts the inputs that the machine took.
func (l *loop) Steps() uint64 { return l.steps.Load() }

// View returns a snapshot at most a few tens of milliseconds old.
func (l *loop) View() *peer.View { return l.view.Load() }

// Members implements replicate.Machine.
func (l *loop) Members(theme feedring.Theme) (members []feedring.PeerID) {
	v := l.View()
	if v == nil {
		return nil // nothing was joined yet
	}
	c, _ := v.Catalogue(theme)
	for _, p := range c.Peers {
		members = append(members, p.Peer)
	}
	return members
}

func (l *loop) publish() {
	at := time.Since(l.start)
	l.view.Store(l.machine.View())
	l.viewed.Store(int64(at))
}

// ViewSince returns a view that holds all that the machine knew at a time, once
// there is one: soon, or when ctx ends.
func (l *loop) ViewSince(ctx context.Context, at time.Time) *peer.View {
	look := time.NewTicker(viewEvery / 2)
	defer look.Stop()
	for l.viewed.Load() < int64(at.Sub(l.start)) {
		select {
		case <-look.C:
		case <-l.done:
			return l.View()
		case <-ctx.Done():
			return l.View()
		}
	}
	return l.View()
}

// run steps the machine until ctx ends or it has departed.
func (l *loop) run(ctx context.Context) {
	close(l.runs)
	defer close(l.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	published := l.Now()
	dirty := false
	for {
		select {
		case <-ctx.Done():
			return
		case in := <-l.inputs:
			l.step(in)
			for range len(l.inputs) {
				l.step(<-l.inputs)
			}
			dirty = true
		case <-timer.C:
		}
		now := l.Now()
		if due := l.machine.Deadline(); !due.IsZero() && !due.After(now) {
			l.step(peer.Tick{})
			dirty = true
		}
		if dirty && now.Sub(published) >= viewEvery {
			l.publish()
			published, dirty = now, false
		}
		timer.Reset(l.pause(dirty, published))
	}
}

// pause is how long the loop may sleep.
func (l *loop) pause(dirty bool, published time.Time) time.Duration {
	wait := time.Hour
	now := l.Now()
	if due := l.machine.Deadline(); !due.IsZero() {
		wait = max(0, due.Sub(now))
	}
	if dirty {
		wait = min(wait, max(0, published.Add(viewEvery).Sub(now)))
	}
	return wait
}

func (l *loop) step(in peer.Input) {
	if l.states != nil && !l.states.current(in) {
		return
	}
	if told, ok := in.(persisted); ok {
		in = told.In
	}
	l.steps.Add(1)
	for _, out := range l.machine.Step(l.Now(), in) {
		l.effects.do(out)
	}
}
