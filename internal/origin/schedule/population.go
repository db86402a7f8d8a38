package schedule

import (
	"cmp"
	"math"
	"sort"
	"time"
)

// Bounds are of the intervals between fetches.
type Bounds struct {
	Shortest, Longest time.Duration
	Period            time.Duration // for which Uniform, MinDelay and MinMissing allot fetches
}

// Population counts feeds by what was seen of them, so that a price for very many is
// found by some hundred kinds of feeds. The zero Population is empty.
type Population struct {
	kinds map[kind]*counted
	lived []lived

	Gathered Gathered // of these feeds, or of some that are like them
}

// kind holds feeds that are fetched about as often: rates within a quarter of
// an octave, windows and weights within half of one, seen for about as long.
type kind struct{ rate, window, days, weight int16 }

type counted struct {
	feeds, entries, days, window, weight int64 // entries, days and weights in millionths: in whole numbers no order matters
}

const millionth = 1e-6

// typical is the mean feed of a kind.
type typical struct {
	feeds, entries, days float64
	window               int
	weight               float64
}

// lived is a feed of which lives are known.
type lived struct {
	feeds  float64 // it stands for
	rhythm *Rhythm
	site   Site
}

// mostLived stand for all of which lives are known: plans take long.
const mostLived = 4

// Add counts a feed of which so many entries were seen in so many days. Of the site only
// Window and Weight count.
func (c *Population) Add(entries, days float64, site Site) {
	if c.kinds == nil {
		c.kinds = make(map[kind]*counted)
	}
	window, weight := max(site.Window, 1), weight(site.Weight)
	days = max(days, leastDays)
	k := kind{int16(math.Floor(4 * math.Log2(max(entries/days, 1e-6)))), int16(2 * math.Log2(float64(window))), int16(math.Floor(math.Log2(days))), int16(math.Round(2 * math.Log2(weight)))}
	n := c.kinds[k]
	if n == nil {
		n = new(counted)
		c.kinds[k] = n
	}
	n.feeds++
	n.entries += int64(entries / millionth)
	n.days += int64(days / millionth)
	n.window += int64(window)
	n.weight += int64(weight / millionth)
}

// AddLived counts a feed whose lives are known. Both are read until the price is
// found.
func (c *Population) AddLived(r *Rhythm, site Site) { c.lived = append(c.lived, lived{1, r, site}) }

// sorted returns the kinds in an order that is always the same.
func (c *Population) sorted() []typical {
	all := make([]typical, 0, len(c.kinds))
	for _, n := range c.kinds {
		all = append(all, typical{
			feeds: float64(n.feeds), entries: float64(n.entries) * millionth / float64(n.feeds), days: float64(n.days) * millionth / float64(n.feeds),
			window: int((n.window + n.feeds/2) / n.feeds), weight: float64(n.weight) * millionth / float64(n.feeds),
		})
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return cmp.Or(cmp.Compare(a.entries, b.entries), cmp.Compare(a.days, b.days), cmp.Compare(a.window, b.window), cmp.Compare(a.weight, b.weight)) < 0
	})
	return all
}

// some returns those that stand for all whose lives are known.
func (c *Population) some() []lived {
	step := max(1, (len(c.lived)+mostLived-1)/mostLived)
	var all []lived
	for i := 0; i < len(c.lived); i += step {
		l := c.lived[i]
		l.feeds = float64(min(step, len(c.lived)-i))
		all = append(all, l)
	}
	return all
}
