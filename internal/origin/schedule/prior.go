package schedule

import "math"

const (
	priorLow   = -20 // powers of the square root of two, in entries a day: one in three years
	priorRates = 44  // … to some thousands
	priorFits  = 30  // rounds of fitting; with more the prior would hang on single feeds

	leastDays = 1e-3 // that a feed counts as seen for
)

// Prior is how the rates of a population of feeds are distributed. It says what to
// expect of those that have shown little: of one that was silent for weeks not
// nothing, but what others do that were silent as long (empirical Bayes: the
// distribution that makes what was seen of all most likely, by expectation
// maximization from an even one on a grid), and how far entries gather at hours. The nil Prior knows nothing.
type Prior struct {
	shares   [priorRates]float64
	gathered float64 // Gathered.square
}

// fit is the prior of kinds.
func fit(kinds []typical) *Prior {
	var p Prior
	for k := range p.shares {
		p.shares[k] = 1.0 / priorRates
	}
	likely := make([][priorRates]float64, len(kinds))
	feeds := 0.0
	for i, n := range kinds {
		likely[i] = likelihood(n.entries, n.days)
		feeds += n.feeds
	}
	for range priorFits {
		var next [priorRates]float64
		for i := range likely {
			sum := 0.0
			for k, share := range p.shares {
				sum += share * likely[i][k]
			}
			for k, share := range p.shares {
				next[k] += kinds[i].feeds / feeds * share * likely[i][k] / sum
			}
		}
		p.shares = next
	}
	return &p
}

// likelihood is of each rate of the grid, for so many entries in so many days,
// but for a factor.
func likelihood(entries, days float64) (l [priorRates]float64) {
	most := math.Inf(-1)
	for k := range l {
		mean := gridRate(k) * days
		l[k] = entries*math.Log(mean) - mean
		most = max(most, l[k])
	}
	for k := range l {
		l[k] = math.Exp(l[k] - most)
	}
	return l
}

func gridRate(k int) float64 { return math.Exp2(float64(k+priorLow) / 2) }

// PerDay is the mean of what the rate can be, in entries a day, by what was seen
// of the feed and of the population.
func (p *Prior) PerDay(r *Rhythm) float64 {
	if p == nil {
		return r.PerDay()
	}
	return p.perDay(r.Seen())
}

func (p *Prior) perDay(entries, days float64) float64 {
	days = max(days, leastDays)
	rates, sum := 0.0, 0.0
	for k, l := range likelihood(entries, days) {
		l *= p.shares[k]
		sum += l
		rates += l * gridRate(k)
	}
	if sum == 0 { // nothing like it is in the population
		return PerDay(entries, days)
	}
	return rates / sum
}
