package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Events come in the order of their time, and those of one time in the order
// in which they were put.
func TestQueueOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var q queue
	type put struct {
		at time.Duration
		n  int32
	}
	var waiting []put
	for n := range int32(5000) {
		if p := (put{q.last + time.Duration(random.IntN(50)), n}); random.IntN(2) == 0 || n < 100 {
			if random.IntN(20) == 0 {
				p.at += time.Duration(random.Int64N(int64(time.Hour)))
			}
			q.put(p.at, event{to: p.n})
			waiting = append(waiting, p)
		} else if len(waiting) > 0 {
			least := slices.MinFunc(waiting, func(a, b put) int {
				if a.at != b.at {
					return int(a.at - b.at)
				}
				return int(a.n - b.n)
			})
			at, _ := q.next()
			if got := q.take(); at != least.at || got.to != least.n {
				t.Fatalf("took %d at %d, not %d at %d", got.to, at, least.n, least.at)
			}
			waiting = slices.DeleteFunc(waiting, func(p put) bool { return p == least })
		}
	}
}

// The heap of ticks names whoever is due first, as a plain search does.
func TestTicks(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var x ticks
	for range 40 {
		x.add()
	}
	for range 5000 {
		at := time.Duration(random.IntN(1000))
		if random.IntN(5) == 0 {
			at = never
		}
		x.set(int32(random.IntN(40)), at)
		if node, at := x.next(); at != slices.Min(x.at) || int(node) != slices.Index(x.at, at) {
			t.Fatalf("node %d is due at %v, but %d at %v", node, at, slices.Index(x.at, slices.Min(x.at)), slices.Min(x.at))
		}
	}
}

// A clock shows at when what it is asked for, and not a moment earlier.
func TestClockWhen(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		c := clock{skew: time.Duration(random.Int64N(int64(10*time.Second))) - 5*time.Second, drift: time.Duration(random.IntN(2000) - 1000)}
		now := time.Duration(random.Int64N(int64(time.Hour))) + time.Minute
		due := c.at(now).Add(time.Duration(random.Int64N(int64(time.Hour))))
		at := c.when(due)
		if at < now || c.at(at).Before(due) || at > now && c.at(at-10*time.Microsecond).After(due) {
			t.Fatalf("%+v: due at %v, woken when it shows %v", c, due, c.at(at))
		}
	}
}

func TestLaggingNodeWaits(t *testing.T) {
	l := lag{every: 100, runs: 10}
	for at, want := range map[time.Duration]time.Duration{0: 0, 9: 9, 10: 100, 99: 100, 105: 105, 110: 200} {
		if got := l.awake(at); got != want {
			t.Errorf("at %d it runs at %d, not %d", at, got, want)
		}
	}
}
