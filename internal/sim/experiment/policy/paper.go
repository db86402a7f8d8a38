package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Workload is what the paper does not publish of its feeds beyond Synthetic:
// how they change between the halves of its six weeks, and how entries gather.
type Workload struct {
	Drift float64       `json:"drift"`  // deviation of the logarithm by which a rate changes between the halves
	Late  float64       `json:"late"`   // share of the feeds that publish nothing in the first half
	Batch float64       `json:"batch"`  // entries that come together, in the mean (geometric); at least 1
	Gap   time.Duration `json:"gap_ns"` // between two of them, in the mean (exponential)
}

// Fitted is the workload with which the static rules come closest to the paper's
// printed numbers on seeds 0 to 3; Gap was not fitted. Others may come as close.
var Fitted = Workload{Drift: 0.4, Late: 0.005, Batch: 2, Gap: 10 * time.Minute}

const (
	paperDaily   = 1083 // entries in the mean; 22,399 in all are three weeks of it
	paperCollect = 2 * time.Hour
)

// habit is how much a feed publishes in a day of each half, and what its
// document holds.
type habit struct {
	halves [2]float64
	window int
}

// habits draws 1,000 feeds. The second half has paperDaily entries a day.
func (w Workload) habits(random *rand.Rand) []habit {
	feeds := make([]habit, paperFeeds)
	sum := 0.0
	for i := range feeds {
		rate := paperRate(i, random)
		feeds[i].halves = [2]float64{rate, rate * math.Exp(w.Drift*random.NormFloat64()-w.Drift*w.Drift/2)}
		if random.Float64() < w.Late {
			feeds[i].halves[0] = 0
		}
		feeds[i].window = paperWindow(random)
		sum += feeds[i].halves[1]
	}
	for i := range feeds {
		feeds[i].halves[1] *= paperDaily / sum
	}
	return feeds
}

// Trace makes the feeds of the paper's six weeks, with a third stretch like the
// second. It has what a collection every two hours sees of them.
func (w Workload) Trace(seed uint64) *Trace {
	random := rand.New(rand.NewPCG(seed, 2))
	t := &Trace{Begin: time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC), Length: paperStretch}
	from, _ := t.counted()
	for i, feed := range w.habits(random) {
		times := w.batches(random, feed.halves[0], t.Begin, from)
		times = append(times, w.batches(random, feed.halves[1], from, t.end())...)
		slices.SortFunc(times, time.Time.Compare) // batches overlap
		seen := collected(times, feed.window, t.Begin)
		t.Feeds = append(t.Feeds, Feed{Name: fmt.Sprint(i), Items: held(seen, feed.window, t.end())})
	}
	return t
}

// batches are the times of entries at so many a day, from begin until before
// end, in the order of their batches.
func (w Workload) batches(random *rand.Rand, daily float64, begin, end time.Time) []time.Time {
	var times []time.Time
	if daily == 0 {
		return nil
	}
	most := daily * weekday / w.Batch
	for at := begin; ; {
		days := random.ExpFloat64() / most
		if days >= end.Sub(at).Hours()/24 { // which may be more than a Duration holds
			return times
		}
		at = at.Add(time.Duration(days * float64(24*time.Hour)))
		if random.Float64()*weekday >= factor(at, false, 0) {
			continue
		}
		for entry := at; entry.Before(end); entry = entry.Add(time.Duration(random.ExpFloat64() * float64(w.Gap))) {
			times = append(times, entry)
			if random.Float64()*w.Batch < 1 {
				break
			}
		}
	}
}

// collected are the entries that are still in the document when a collection
// comes by; what is pushed out before was never known.
func collected(times []time.Time, window int, begin time.Time) []time.Time {
	var seen []time.Time
	for i, at := range times {
		next := begin.Add((at.Sub(begin) + paperCollect - 1) / paperCollect * paperCollect)
		if i+window >= len(times) || times[i+window].After(next) {
			seen = append(seen, at)
		}
	}
	return seen
}
