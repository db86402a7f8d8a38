package policy

import (
	"time"
)

// adaptive is FeedEx's rule (section 3.3): after each look an interval is halved
// or doubled by the share of the document that is new. As it is printed it
// halves where little is new, against the reasoning before it.
type adaptive struct {
	printed  bool
	target   float64 // share that is new
	windows  []int
	interval []time.Duration
	longest  time.Duration
}

const shortest = 30 * time.Minute

func (a *adaptive) next(feed int, seen []time.Time, _ bool, now time.Time) time.Time {
	share := float64(len(seen)) / float64(a.windows[feed])
	t := a.interval[feed]
	if (share < a.target) == a.printed {
		t = max(t/2, shortest)
	} else {
		t = min(t*2, a.longest)
	}
	a.interval[feed] = t
	return now.Add(t)
}

// Adaptive plays FeedEx's rule, with the target that spends the budget best: it
// is told by the stretch that counts, which no other is.
func Adaptive(t *Trace, name string, printed bool, looks int) Score {
	ready := t.learned()
	run := func(target float64, most int) Score {
		a := &adaptive{printed: printed, target: target, longest: t.Length}
		for _, l := range ready {
			a.windows = append(a.windows, l.window)
			a.interval = append(a.interval, min(t.Length, max(shortest, t.Length*time.Duration(len(ready))/time.Duration(looks))))
		}
		return play(t, name, most, a)
	}
	low, high := 0.0, 1.0
	for range 10 {
		middle := (low + high) / 2
		if (run(middle, 10*looks).Looks > looks) == printed {
			high = middle
		} else {
			low = middle
		}
	}
	if printed {
		return run(low, looks)
	}
	return run(high, looks)
}
