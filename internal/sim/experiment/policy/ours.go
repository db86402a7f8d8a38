package policy

import (
	"math"
	"slices"
	"time"

	"github.com/feedring/feedring/internal/origin/schedule"
)

// expected is the scheduler by expected loss. Once a day it sets the price
// anew, so that what is left of the budget lasts.
type expected struct {
	rhythms []schedule.Rhythm
	sites   []schedule.Site
	last    []time.Time
	due     []time.Time
	price   schedule.Price
	priced  time.Time
	weighed time.Time // when it was found what a lost entry counts for
	budget  int       // looks a stretch
	left    float64
	stretch time.Duration
	until   time.Time // the end of the stretch
}

// Expected plays the scheduler by expected loss.
func Expected(t *Trace, name string, looks int) Score {
	from, to := t.counted()
	e := &expected{budget: looks, left: float64(looks), stretch: t.Length, until: to}
	var full []int // windows that were seen to overflow
	for i, l := range t.learned() {
		var r schedule.Rhythm
		r.Learn(l.published, t.Begin, from)
		lives := new(schedule.Residence)
		for _, it := range t.Feeds[i].Items[:len(l.published)] {
			if it.Gone.Before(from) {
				lives.Learn(it.Published, it.Gone.Sub(it.Published))
			} else if it.Published.Before(from.Add(-t.Length / 2)) {
				lives.Learn(it.Published, from.Sub(it.Published))
			}
		}
		if l.full {
			full = append(full, l.window)
		}
		_, jitter := math.Modf(float64(i) * math.Phi)
		e.rhythms = append(e.rhythms, r)
		e.sites = append(e.sites, schedule.Site{Window: l.window, Residence: lives, Weight: l.weight, Jitter: jitter})
		e.last, e.due = append(e.last, from), append(e.due, time.Time{})
	}
	slices.Sort(full)
	for i, l := range t.learned() {
		if len(full) > 0 && !l.full { // it holds more than it ever had: as others do
			e.sites[i].Window = max(l.window, full[len(full)/2])
		}
	}
	e.reprice(from)
	for i := range e.due {
		e.due[i] = e.when(&e.rhythms[i], e.sites[i], from)
	}
	e.reprice(from) // now that it is known what is due when
	return play(t, name, looks, e)
}

// reprice finds the price that spends what is left in what is left of the
// stretch. Once a week it weighs lost entries anew.
func (e *expected) reprice(now time.Time) {
	var population schedule.Population
	for i := range e.rhythms {
		population.Gathered.Add(&e.rhythms[i])
		if site := e.sites[i]; site.Residence.Known() {
			population.AddLived(&e.rhythms[i], site)
		} else {
			entries, days := e.rhythms[i].Seen()
			population.Add(entries, days, site)
		}
	}
	within := schedule.Bounds{Shortest: 5 * time.Minute, Longest: schedule.Horizon, Period: e.stretch}
	if now.Sub(e.weighed) >= 7*24*time.Hour {
		e.price, e.weighed = population.Price(float64(e.budget)/e.stretch.Hours(), within), now
	}
	e.price = population.Reprice(e.price, max(0, e.left-e.ahead(now))/e.until.Sub(now).Hours(), within)
	e.priced = now
}

// ahead is how many looks more are due until the end of the stretch than in a
// time of that length at random, with the intervals of now.
func (e *expected) ahead(now time.Time) float64 {
	looks := 0.0
	for i, due := range e.due {
		every := due.Sub(e.last[i])
		switch {
		case due.IsZero() || every >= schedule.Horizon:
		case due.After(e.until):
			looks -= e.until.Sub(now).Hours() / every.Hours()
		default:
			looks += 0.5 - due.Sub(now).Hours()/every.Hours()
		}
	}
	return looks
}

func (e *expected) next(feed int, seen []time.Time, whole bool, now time.Time) time.Time {
	last := e.last[feed]
	e.last[feed], e.due[feed] = now, time.Time{}
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
		if now.Sub(e.priced) >= 24*time.Hour && e.until.Sub(now) > 12*time.Hour {
			e.reprice(now)
		}
	}
	e.due[feed] = maxTime(e.when(&e.rhythms[feed], e.sites[feed], now), now.Add(time.Minute))
	return e.due[feed]
}

func (e *expected) when(r *schedule.Rhythm, site schedule.Site, now time.Time) time.Time {
	return e.price.Next(r, site, now, schedule.Bounds{Shortest: 5 * time.Minute, Longest: schedule.Horizon})
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
