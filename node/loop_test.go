package node

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/node/internal/nodetest"
)

// doFunc does outputs as a test says.
type doFunc func(peer.Output)

func (f doFunc) do(out peer.Output) { f(out) }

// loopOf runs a loop around a peer that is in no group: it answers every
// question at once that nobody serves.
func loopOf(t *testing.T, ctx context.Context, joining bool, do func(peer.Output)) *loop {
	start := time.Now()
	m, err := peer.New(peer.Config{
		Self: "self", Refresh: time.Second, Attempts: 3, Freshness: time.Hour, Joining: joining, Seed: 1,
	}, peer.State{}, start)
	check(t, err)
	l := newLoop(start)
	l.begin(m, doFunc(do), start)
	go l.run(ctx)
	return l
}

func question(n int) peer.Ask {
	return peer.Ask{Stream: uint64(n), ID: feedring.QueryID{byte(n), byte(n >> 8)}, Within: time.Second}
}

func TestLoopStepsInOrder(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan uint64, 5000)
	l := loopOf(t, ctx, false, func(out peer.Output) {
		if a, ok := out.(peer.Answer); ok {
			answered <- a.Stream
		}
	})
	for n := range cap(answered) {
		if !l.Post(question(n)) {
			t.Fatal("the loop ended")
		}
	}
	for n := range cap(answered) {
		if got := <-answered; got != uint64(n) {
			t.Fatalf("answer %d came in place %d", got, n)
		}
	}
	cancel()
	<-l.done
	for range inputQueue + 1 { // never blocks on a loop that is over
		l.Post(question(0))
	}
}

func TestLoopTicksAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at time.Duration
		began := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		l := loopOf(t, ctx, true, func(out peer.Output) {
			if _, ok := out.(peer.Answer); ok {
				at = time.Since(began)
			}
		})
		l.Post(question(1)) // nobody to ask yet: answered a little before a second is over
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if at < 900*time.Millisecond || at > time.Second {
			t.Errorf("answered after %s", at)
		}
		cancel()
		<-l.done
	})
}

func TestLoopClock(t *testing.T) {
	start := time.Now()
	l := newLoop(start)
	behind := func() time.Duration { return l.wall.Now().Round(0).Sub(l.Now().Round(0)) }
	for _, step := range []struct {
		name string
		set  time.Duration
		want time.Duration // how far the machine's clock may be from the system's
	}{
		{"set a little", 30 * time.Second, 30 * time.Second},
		{"set back", -time.Hour, -time.Hour},
		{"asleep for a night", 8 * time.Hour, 0},
		{"set back after it", 7 * time.Hour, -time.Hour},
		{"asleep again", 9 * time.Hour, 0},
	} {
		before := l.Now()
		l.wall = &nodetest.Clock{Ahead: step.set}
		if got := behind(); (got - step.want).Abs() > time.Second {
			t.Errorf("%s: the machine's clock is %s behind, not %s", step.name, got, step.want)
		}
		if l.Now().Before(before) {
			t.Errorf("%s: the clock fell", step.name)
		}
	}
}

// TestLoopClockFollows: a clock that is set back by an hour, as one that was wrong at
// the start, leaves the machine ahead for 20 hours and no longer; in that time
// the machine's never falls, and runs slower by no more than clocks may.
func TestLoopClockFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, set := range []time.Duration{-time.Hour, -30 * time.Second} {
			l := newLoop(time.Now())
			l.wall = &nodetest.Clock{Ahead: set}
			ahead := func() time.Duration { return l.Now().Sub(l.wall.Now()) }
			before, took := l.Now(), time.Duration(0)
			for ; ahead().Abs() > time.Millisecond && took < 48*time.Hour; took += 7 * time.Second {
				time.Sleep(7 * time.Second)
				now := l.Now()
				if ran := now.Sub(before); ran < 7*time.Second*19/20 || ran > 7*time.Second {
					t.Fatalf("set by %s: the machine's clock ran %s in 7 s", set, ran)
				}
				before = now
			}
			if limit := 20*set.Abs() + 7*time.Second; took > limit {
				t.Errorf("set by %s: the machine's clock is %s ahead after %s", set, ahead(), took)
			}
			time.Sleep(time.Hour)
			if got := ahead().Abs(); got > time.Millisecond {
				t.Errorf("set by %s: the machine's clock is %s ahead later", set, got)
			}
		}
	})
}
