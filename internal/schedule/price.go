package schedule

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Price is what expected loss goes by: what a look costs, and what a lost entry
// counts for, both in hours that an entry waits.
type Price struct {
	Look, Loss float64
}

// Cheapest is the least price of a look. Where the budget gives more than that,
// it is left: a look that saves one entry of fifty an hour's wait helps no
// reader, and costs the site as much as any.
const Cheapest = 0.02

// Bounds are of the intervals between looks.
type Bounds struct{ Shortest, Longest time.Duration }

// Crowd counts feeds by rate and window, so that a price for very many is found
// by some hundred kinds of feeds. The zero Crowd is empty.
type Crowd struct {
	kinds map[kind]*counted
}

// kind holds feeds that are looked at about as often: rates within a quarter of
// an octave, windows within half of one.
type kind struct{ rate, window int16 }

type counted struct {
	feeds, perDay, window, looks int64 // sums, rates and looks in millionths: in whole numbers no order matters
}

const millionth = 1e-6

// typical is the mean feed of a kind.
type typical struct {
	feeds, perDay, looks float64 // looks of all of them, beside those of their rate and window
	window               int
}

// Add counts a feed that has so many entries a day and a window, and gets looks
// times the looks that these say.
func (c *Crowd) Add(perDay float64, window int, looks float64) {
	if c.kinds == nil {
		c.kinds = make(map[kind]*counted)
	}
	window = max(window, 1)
	k := kind{int16(math.Floor(4 * math.Log2(max(perDay, 1e-6)))), int16(2 * math.Log2(float64(window)))}
	n := c.kinds[k]
	if n == nil {
		n = new(counted)
		c.kinds[k] = n
	}
	n.feeds++
	n.perDay += int64(perDay / millionth)
	n.window += int64(window)
	n.looks += int64(looks / millionth)
}

// Price returns the price at which the crowd gets so many looks an hour, or the
// nearest to that. It takes some tens of milliseconds.
func (c *Crowd) Price(looksAnHour float64, within Bounds) Price {
	kinds := c.sorted()
	p := Price{Look: Cheapest, Loss: within.Longest.Hours()}
	for range 4 { // the price and what a loss counts for hang on each other
		low, high := math.Log(Cheapest), math.Log(1e6)
		for range 20 {
			middle := (low + high) / 2
			if looks, _ := demanded(kinds, Price{math.Exp(middle), p.Loss}, within); looks > looksAnHour {
				low = middle
			} else {
				high = middle
			}
		}
		p.Look = math.Exp(high)
		_, waits := demanded(kinds, p, within)
		p.Loss = DefaultLoss * waits
	}
	return p
}

// sorted returns the kinds in an order that is always the same.
func (c *Crowd) sorted() []typical {
	all := make([]typical, 0, len(c.kinds))
	for _, n := range c.kinds {
		all = append(all, typical{
			feeds: float64(n.feeds), perDay: float64(n.perDay) * millionth / float64(n.feeds), looks: float64(n.looks) * millionth,
			window: int((n.window + n.feeds/2) / n.feeds),
		})
	}
	slices.SortFunc(all, func(a, b typical) int {
		return cmp.Or(cmp.Compare(a.perDay, b.perDay), cmp.Compare(a.window, b.window))
	})
	return all
}

// demanded is how many looks an hour a price brings, and the mean interval that
// an entry meets, in hours.
func demanded(kinds []typical, p Price, within Bounds) (looks, waits float64) {
	value, entries := Value{Loss: p.Loss}, 0.0
	for _, n := range kinds {
		every := value.Interval(n.perDay, Site{Window: n.window}, p.Look)
		looks += n.feeds / within.hold(every.Hours()*n.feeds/n.looks)
		entries += n.feeds * n.perDay
		waits += n.feeds * n.perDay * within.hold(every.Hours())
	}
	return looks, waits / max(entries, 1e-9)
}

func (b Bounds) hold(hours float64) float64 {
	return min(max(hours, b.Shortest.Hours()), b.Longest.Hours())
}
