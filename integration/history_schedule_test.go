package integration

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// trouble is one fault of a schedule: from begin to end, at machine a, and
// where the kind says so towards machine b. Machines are numbered; the first
// run peers, the others readers.
type trouble struct {
	kind       kind
	a, b       int
	begin, end time.Duration
}

type kind string

const (
	killed    kind = "killed"     // the peer, and started again at the end
	stopped   kind = "stopped"    // the peer does nothing
	left      kind = "left"       // in good order, and started again at the end
	oneWay    kind = "one way"    // b does not hear a
	bothWays  kind = "both ways"  // a and b do not hear each other
	cutOff    kind = "cut off"    // nobody hears a, nor a anybody
	foulPlace kind = "foul place" // a's packets and those for a are late, or lost
)

func (f trouble) String() string {
	return fmt.Sprintf("%v to %v: machine %d %s (%d)", f.begin.Round(time.Millisecond), f.end.Round(time.Millisecond), f.a, f.kind, f.b)
}

// ofProcess reports whether the kind happens to a process, not to the network.
func (k kind) ofProcess() bool { return k == killed || k == stopped || k == left }

// schedule is faults for about that long, two at a time at most, each between
// one and six seconds. It follows from the seed.
func schedule(seed uint64, long time.Duration, peers, machines int) (all []trouble) {
	random := rand.New(rand.NewPCG(seed, 2))
	kinds := []kind{killed, stopped, left, oneWay, bothWays, cutOff, foulPlace}
	for lane := range 2 {
		at := time.Duration(lane) * 700 * time.Millisecond
		for at < long {
			f := trouble{kind: kinds[random.IntN(len(kinds))], a: random.IntN(machines), b: random.IntN(machines - 1), begin: at}
			if f.b >= f.a {
				f.b++
			}
			if f.kind.ofProcess() {
				f.a %= peers
			}
			at += time.Second + time.Duration(random.Int64N(int64(5*time.Second)))
			f.end = at
			at += time.Duration(random.Int64N(int64(2 * time.Second)))
			if !slices.ContainsFunc(all, f.clashes) {
				all = append(all, f)
			}
		}
	}
	slices.SortFunc(all, func(x, y trouble) int { return cmp.Compare(x.begin, y.begin) })
	return all
}

// clashes reports whether both have the same process at the same time.
func (f trouble) clashes(o trouble) bool {
	return f.kind.ofProcess() && o.kind.ofProcess() && f.a == o.a && f.begin <= o.end && o.begin <= f.end
}

// over returns the conditions from one machine to another while these faults last.
func over(calm conditions, now []trouble, from, to int) conditions {
	for _, f := range now {
		concerned := from == f.a || to == f.a
		switch {
		case f.kind == cutOff && concerned,
			f.kind == oneWay && from == f.a && to == f.b,
			f.kind == bothWays && (from == f.a && to == f.b || from == f.b && to == f.a):
			return conditions{cut: true}
		case f.kind == foulPlace && concerned:
			calm = conditions{delay: 100 * time.Millisecond, jitter: 80 * time.Millisecond, loss: 0.2, twice: 0.02}
		}
	}
	return calm
}
