package policy

import (
	"math"
	"time"

	"github.com/feedring/feedring/internal/schedule"
)

// expected is the scheduler by expected loss. Once a day it sets the price
// anew, so that what is left of the budget lasts.
type expected struct {
	value   schedule.Value
	loss    float64 // mean intervals that a lost entry counts for
	rhythms []schedule.Rhythm
	sites   []schedule.Site
	last    []time.Time
	price   float64
	priced  time.Time
	budget  int // looks a stretch
	left    float64
	stretch time.Duration
	until   time.Time // the end of the stretch
}

// Expected plays the scheduler by expected loss.
func Expected(t *Trace, name string, loss float64, looks int) Score {
	from, to := t.counted()
	e := &expected{loss: loss, budget: looks, left: float64(looks), stretch: t.Length, until: to}
	for i, l := range t.learned() {
		var r schedule.Rhythm
		r.Learn(l.published, t.Begin, from)
		lives := new(schedule.Lives)
		for _, it := range t.Feeds[i].Items[:len(l.published)] {
			if it.Gone.Before(from) {
				lives.Learn(it.Published, it.Gone.Sub(it.Published))
			} else if it.Published.Before(from.Add(-t.Length / 2)) {
				lives.Learn(it.Published, from.Sub(it.Published))
			}
		}
		e.rhythms = append(e.rhythms, r)
		e.sites = append(e.sites, schedule.Site{Window: l.window, Lives: lives})
		e.last = append(e.last, from)
	}
	e.value.Loss = math.MaxFloat64
	for range 4 { // the price and what a loss counts for hang on each other
		e.reprice(from)
		e.priced = time.Time{}
	}
	e.priced = from
	return play(t, name, looks, e)
}

// reprice finds the price by halving: more looks are due where it is lower.
func (e *expected) reprice(now time.Time) {
	low, high, rounds := math.Log(1e-4), math.Log(1e9), 24
	if !e.priced.IsZero() { // a day changes little
		low, high, rounds = math.Log(e.price/4), math.Log(e.price*4), 8
	}
	for range rounds {
		middle := (low + high) / 2
		wanted := 0.0
		for i := range e.rhythms {
			wanted += e.until.Sub(now).Hours() / e.interval(i, now, math.Exp(middle)).Hours()
		}
		if wanted > e.left {
			low = middle
		} else {
			high = middle
		}
	}
	e.price, e.priced = math.Exp(high), now
	entries, waits := 0.0, 0.0
	for i := range e.rhythms {
		rate := e.rhythms[i].PerDay()
		entries += rate
		waits += rate * e.interval(i, now, e.price).Hours()
	}
	e.value.Loss = e.loss * waits / entries
}

// interval is the mean between looks at a price: of a week to come where lives
// are known, since they go by the hour.
func (e *expected) interval(i int, now time.Time, price float64) time.Duration {
	if !e.sites[i].Lives.Known() {
		return e.value.Interval(e.rhythms[i].PerDay(), e.sites[i], price)
	}
	const week = 7 * 24 * time.Hour
	typical := e.value.Interval(e.rhythms[i].PerDay(), e.sites[i], price)
	return week / time.Duration(e.value.Plan(&e.rhythms[i], e.sites[i].Lives, now, week, typical, price).Looks)
}

func (e *expected) next(feed int, seen []time.Time, whole bool, now time.Time) time.Time {
	last := e.last[feed]
	e.last[feed] = now
	if now.After(last) {
		if now.After(e.until) {
			e.left, e.until = float64(e.budget), e.until.Add(e.stretch)
		}
		e.left--
		since := last
		if !whole && len(seen) > 0 {
			since = seen[0] // what came before it is not known
			seen = seen[1:]
		}
		e.rhythms[feed].Learn(seen, since, now)
		if now.Sub(e.priced) >= 24*time.Hour && e.until.Sub(now) > 24*time.Hour {
			e.reprice(now)
		}
	}
	r, site := &e.rhythms[feed], e.sites[feed]
	if !site.Lives.Known() {
		return maxTime(e.value.Due(r, site, now, e.price), now.Add(time.Minute))
	}
	typical := e.value.Interval(r.PerDay(), site, e.price)
	return e.value.Plan(r, site.Lives, now, max(24*time.Hour, 4*typical), typical, e.price).Next
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
