package schedule

import (
	"math"
	"sort"
	"time"
)

// outcome is what becomes of entries, expected: of an hour of a market, or of
// the stretch of a plan.
type outcome struct {
	fetches, entries float64
	seen             float64
	read, waits      float64 // those seen, and the hours that they wait together, times the weight of their feeds
}

func (o outcome) missed() float64 { return 1 - o.seen/max(o.entries, 1e-9) }
func (o outcome) delay() float64  { return o.waits / max(o.read, 1e-9) }

func (o *outcome) plus(p outcome, times float64) {
	o.fetches += p.fetches * times
	o.entries += p.entries * times
	o.seen += p.seen * times
	o.read += p.read * times
	o.waits += p.waits * times
}

// weighed is of a feed with a weight.
func (o outcome) weighed(weight float64) outcome {
	o.read *= weight
	o.waits *= weight
	return o
}

// market is a population prepared for prices: what becomes of the entries of each
// kind is known for a grid of intervals.
type market struct {
	grid   [gridSteps]float64 // hours
	rates  *Prior
	kinds  []ratePoint
	lived  []lived
	within Bounds
	hourly hourly
}

const (
	gridSteps = 120
	never     = gridSteps - 1 // where on the grid a fetch is that is never worth its price
)

// ratePoint is what becomes of a typical feed's entries.
type ratePoint struct {
	typical
	rate float64 // expected, an hour
	at   [gridSteps]overflowed
}

func (c *Population) market(within Bounds) *market {
	kinds := c.sorted()
	m := &market{rates: fit(kinds), lived: c.some(), within: within, kinds: make([]ratePoint, len(kinds))}
	m.rates.gathered = c.Gathered.square()
	m.hourly = newHourly(m.rates.gathered)
	for j := range m.grid {
		m.grid[j] = within.Shortest.Hours() * math.Pow(within.Longest.Hours()/within.Shortest.Hours(), float64(j)/(gridSteps-1))
	}
	for i, n := range kinds {
		k := &m.kinds[i]
		k.typical, k.rate = n, m.rates.perDay(n.entries, n.days)/24
		for j, t := range m.grid {
			if m.rates.tellsHours(k.entries) {
				k.at[j] = overflow(t*k.rate, n.window) // a plan fetches when as many have come
			} else {
				k.at[j] = m.hourly.overflow(t, t*k.rate, n.window)
			}
		}
	}
	return m
}

func (m *market) feeds() float64 {
	n := 0.0
	for i := range m.kinds {
		n += m.kinds[i].feeds
	}
	for _, l := range m.lived {
		n += l.feeds
	}
	return n
}

// at is what a price brings.
func (m *market) at(p Price) outcome {
	var sum outcome
	for i := range m.kinds {
		k := &m.kinds[i]
		sum.plus(m.brings(k, p).weighed(k.weight), k.feeds)
	}
	for _, l := range m.lived {
		slot := max(2*byLives(p.Interval(m.rates.PerDay(l.rhythm), l.site)), m.within.Shortest)
		planner := m.planner(l, slot)
		sum.plus(planner.solve(p.weighed(l.site.Weight)).weighed(weight(l.site.Weight)), l.feeds/planner.hours())
	}
	return sum
}

// brings is what becomes of a feed's entries in an hour, in the mean of all lucks:
// below some luck the feed is given up, and above it luck changes little.
func (m *market) brings(k *ratePoint, p Price) (o outcome) {
	from, to := 0.0, 1.0
	if m.due(k, p, to) == never {
		return k.in(m.between(k, never))
	}
	if m.due(k, p, from) == never {
		for range 7 {
			if middle := (from + to) / 2; m.due(k, p, middle) == never {
				from = middle
			} else {
				to = middle
			}
		}
		from = to
	}
	o.plus(k.in(m.between(k, never)), from)
	o.plus(m.kept(k, m.due(k, p, from)), (1-from)/2)
	o.plus(m.kept(k, m.due(k, p, 1)), (1-from)/2)
	return o
}

// kept is what becomes of them with a fetch of a place on the grid, or with a plan
// where such fetches would be.
func (m *market) kept(k *ratePoint, place float64) outcome {
	hours, became := m.between(k, place)
	if !m.rates.tellsHours(k.entries) {
		return k.in(hours, became)
	}
	plan := m.hourly.at(hours)
	o := k.in(m.between(k, m.place(hours*plan.apart)))
	o.waits *= plan.waits
	return o
}

// place is where on the grid an interval is, between its steps.
func (m *market) place(hours float64) float64 {
	j := min(max(1, sort.SearchFloat64s(m.grid[:], hours)), gridSteps-1)
	part := (hours - m.grid[j-1]) / (m.grid[j] - m.grid[j-1])
	return float64(j-1) + min(max(0, part), 1)
}

// due is where on the grid a fetch is worth the price. Beyond where the loss is all
// is worth the same.
func (m *market) due(k *ratePoint, p Price, jitter float64) float64 {
	p = p.weighed(k.weight)
	loss := jittered(p.Loss, jitter)
	longest := m.place(loss)
	worth := func(place float64) float64 {
		hours, o := m.between(k, place)
		return o.worth(hours, hours*k.rate, loss)
	}
	if worth(longest) < p.Fetch {
		return never
	}
	j := sort.Search(int(longest)+1, func(j int) bool { return worth(float64(j)) >= p.Fetch })
	if j == 0 || float64(j) > longest {
		return min(float64(j), longest)
	}
	was, now := math.Sqrt(max(0, worth(float64(j-1)))), math.Sqrt(worth(float64(j)))
	return float64(j-1) + max(0, math.Sqrt(p.Fetch)-was)/(now-was)
}

// between is what becomes of a feed's entries until a fetch of a place on the
// grid.
func (m *market) between(k *ratePoint, place float64) (hours float64, o overflowed) {
	j := min(int(place), gridSteps-2)
	part := place - float64(j)
	mean := func(a, b float64) float64 { return a + part*(b-a) }
	a, b := &k.at[j], &k.at[j+1]
	return mean(m.grid[j], m.grid[j+1]), overflowed{mean(a.full, b.full), mean(a.lost, b.lost), mean(a.waits, b.waits)}
}

// in is an hour's part of it.
func (k *ratePoint) in(hours float64, o overflowed) outcome {
	if hours >= Horizon.Hours()*0.99 { // given up
		return outcome{entries: k.rate}
	}
	seen := k.rate - o.lost/hours
	return outcome{fetches: 1 / hours, entries: k.rate, seen: seen, read: seen, waits: o.waits / max(k.rate, 1e-12) / hours}
}

// sample is how many feeds stand for a population where fetches are allotted one by one.
const sample = 2000

// rival is what a rule brings that allots fetches by what was seen of each feed.
func (m *market) rival(allot func([]Demand, int) []int, fetchesAnHour float64) outcome {
	within := m.within
	each := max(1, m.feeds()/sample) // feeds that one stands for
	var demands []Demand
	var becomes []func(hours float64) outcome
	add := func(times float64, perDay float64, window int, weight float64, f func(float64) outcome) {
		for range max(1, int(math.Round(times/each))) {
			demands = append(demands, Demand{perDay * within.Period.Hours() / 24, window, weight})
			becomes = append(becomes, func(hours float64) outcome { return f(hours).weighed(weight) })
		}
	}
	for i := range m.kinds {
		k := &m.kinds[i]
		add(k.feeds, k.entries/k.days, k.window, k.weight, m.evenly(k))
	}
	for _, l := range m.lived {
		entries, days := l.rhythm.Seen()
		add(l.feeds, entries/max(days, leastDays), l.site.Window, weight(l.site.Weight), m.livedEvenly(l))
	}
	fetches := int(math.Round(fetchesAnHour * within.Period.Hours() * float64(len(demands)) / m.feeds()))
	var sum outcome
	for i, n := range allot(demands, fetches) {
		every := within.Longest.Hours()
		if n > 0 {
			every = within.hold(within.Period.Hours() / float64(n))
		}
		sum.plus(becomes[i](every), 1)
	}
	return sum
}

func (b Bounds) hold(hours float64) float64 {
	return min(max(hours, b.Shortest.Hours()), b.Longest.Hours())
}

func (m *market) evenly(k *ratePoint) func(float64) outcome {
	return func(hours float64) outcome {
		return k.in(hours, m.hourly.overflow(hours, hours*k.rate, k.window))
	}
}

func (m *market) livedEvenly(l lived) func(float64) outcome {
	return func(hours float64) (o outcome) {
		const slots = slotsByLives / 2
		p := m.planner(l, time.Duration(hours/slots*float64(time.Hour)))
		o.plus(p.evenly(slots), 1/p.hours())
		return o
	}
}

// planner is of a week, and half as fine as plans are that are gone by.
func (m *market) planner(l lived, slot time.Duration) *planner {
	const week = 7 * 24 * time.Hour
	return newPlanner(l.rhythm, l.site, m.rates, l.rhythm.newest(), week, slot)
}
