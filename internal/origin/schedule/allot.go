package schedule

import (
	"math"
	"sort"
)

// Demand is what a feed asks of a period.
type Demand struct {
	Rate   float64 // entries published in the period
	Window int     // entries that the document holds; at least 1
	Weight float64 // what an entry counts for, as Site.Weight
}

// resolution is of gains, for the counting sort: a sixteenth of an entry.
const resolution = 16

// Uniform gives each feed the same number of fetches; the first get one more
// where they do not divide.
func Uniform(feeds []Demand, fetches int) []int {
	m := make([]int, len(feeds))
	for i := range m {
		m[i] = fetches / len(feeds)
		if i < fetches%len(feeds) {
			m[i]++
		}
	}
	return m
}

// MinDelay gives fetches by the square root of rate times weight (Sia and Cho; the paper's
// section 2.1, which plays equal weights only): the least sum of weighed delays
// where entries come evenly. What rounding down leaves goes to the largest rests.
func MinDelay(feeds []Demand, fetches int) []int {
	share := make([]float64, len(feeds))
	sum := 0.0
	for i, f := range feeds {
		share[i] = math.Sqrt(f.Rate * weight(f.Weight))
		sum += share[i]
	}
	if sum == 0 {
		return Uniform(feeds, fetches)
	}
	m := make([]int, len(feeds))
	order := make([]int, len(feeds))
	left := fetches
	for i := range feeds {
		share[i] *= float64(fetches) / sum
		m[i] = int(share[i])
		share[i] -= float64(m[i])
		left -= m[i]
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return share[order[a]] > share[order[b]] })
	for _, i := range order[:left] {
		m[i]++
	}
	return m
}

// MinMissing gives each fetch in turn to the feed from which it takes the most
// entries: a window full, or what is left of the period's entries; where nothing
// is left of any, all begin anew (the paper's figure 8; of equals the first
// feed). The gains of a feed never rise within a round, so that a round is
// those gains in order, and is found by a counting sort: O(feeds + fetches).
func MinMissing(feeds []Demand, fetches int) []int {
	m := make([]int, len(feeds))
	round := 0
	for i, f := range feeds {
		m[i] = int(math.Ceil(f.Rate / float64(max(f.Window, 1))))
		round += m[i]
	}
	if round == 0 {
		return Uniform(feeds, fetches)
	}
	whole := fetches / round
	for i := range m {
		m[i] *= whole
	}
	for _, g := range byGain(feeds) {
		n := min(g.times, fetches-whole*round)
		m[g.feed] += n
		fetches -= n
		if fetches == whole*round {
			break
		}
	}
	return m
}

// gain is what a fetch takes, and how often in a round.
type gain struct {
	feed, times int
	entries     float64
}

// byGain returns the gains of a round, the largest first, equal ones in the
// order of feeds.
func byGain(feeds []Demand) []gain {
	all := make([]gain, 0, 2*len(feeds))
	top := 0
	for i, f := range feeds {
		window := float64(max(f.Window, 1))
		full := math.Floor(f.Rate / window)
		if full > 0 {
			all = append(all, gain{i, int(full), window})
		}
		if rest := f.Rate - full*window; rest > 0 {
			all = append(all, gain{i, 1, rest})
		}
	}
	for _, g := range all {
		top = max(top, g.bucket())
	}
	starts := make([]int, top+2)
	for _, g := range all {
		starts[top-g.bucket()+1]++
	}
	for b := 1; b < len(starts); b++ {
		starts[b] += starts[b-1]
	}
	sorted := make([]gain, len(all))
	for _, g := range all {
		b := top - g.bucket()
		sorted[starts[b]] = g
		starts[b]++
	}
	return sorted
}

func (g gain) bucket() int { return int(math.Ceil(g.entries * resolution)) }
