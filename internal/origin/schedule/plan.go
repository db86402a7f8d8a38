package schedule

import "time"

const (
	maxReach = 64 // slots between two fetches of a plan by lives
	maxSlots = 2000

	longestPlanned = 8 * 24 * time.Hour // beyond it hours change little

	// Slots between two fetches. A market plays plans by lives for each price that it
	// tries, so that they are coarse.
	slotsByHours = 24
	slotsByLives = 8
)

// Next returns when to fetch a feed next that was fetched at last: by a plan
// where it is known how long its entries stay, or at which hours they come, and
// otherwise when a fetch is due. It takes some ten microseconds, and a hundred where
// it plans.
func (p Price) Next(r *Rhythm, site Site, last time.Time, within Bounds) time.Time {
	typical := min(max(p.Interval(p.Rates.PerDay(r), site), within.Shortest), within.Longest)
	if site.Residence.Known() {
		return newPlanner(r, site, p.Rates, last, max(24*time.Hour, 4*typical), byLives(typical)).solve(p.weighed(site.Weight)).next
	}
	if typical > longestPlanned || !p.Rates.tellsHours(float64(r.entries)) {
		return p.Due(r, site, last)
	}
	p.Loss = jittered(p.Loss, site.Jitter)
	slot := min(max(typical/slotsByHours, 5*time.Minute), 3*time.Hour)
	return newPlanner(r, site, p.Rates, last, 4*typical, slot).solve(p.weighed(site.Weight)).next
}

// tellsHours reports whether a feed that showed so many entries showed its hours:
// half of what is then believed of them is its own.
func (p *Prior) tellsHours(entries float64) bool { return p != nil && p.gathered*entries >= 1 }

// byLives is the slot of a plan by lives for fetches that are about so far apart.
func byLives(typical time.Duration) time.Duration {
	return min(max(typical/slotsByLives, 5*time.Minute), time.Hour)
}

// plan is when a feed that publishes by the hour is fetched best: the fetches
// of a stretch that cost the least together, those of entries that wait and are
// lost, and the price of each fetch. It is the exact answer of the model, by
// dynamic programming, where Due fetches at the past of one fetch alone.
type plan struct {
	next time.Time // the first fetch
	outcome
}

// planner knows what becomes of the entries of each slot of a stretch, which
// begins with a fetch and ends with one.
type planner struct {
	last    time.Time
	slot    time.Duration
	entries []float64 // expected in a slot
	leaving
}

func newPlanner(r *Rhythm, site Site, rates *Prior, last time.Time, stretch, slot time.Duration) *planner {
	n := min(max(1, int(stretch/slot)), maxSlots)
	p := &planner{last: last, slot: slot, entries: make([]float64, n)}
	perSlot, hours := rates.PerDay(r)/24*slot.Hours(), rates.hours(r)
	for s := range n {
		from := last.Add(time.Duration(s) * slot)
		p.entries[s] = perSlot * hours.over(from, from.Add(slot))
	}
	if site.Residence.Known() {
		p.byLives(site.Residence)
	} else {
		p.byWindow(site.Window)
	}
	return p
}

func (p *planner) hours() float64 { return float64(len(p.entries)) * p.slot.Hours() }

// becomes is what becomes of the entries of slot s when the next fetch is at the
// end of the slot that lies after slots later.
func (p *planner) becomes(s, after int) (seen, waits, lost float64) {
	lost = p.entries[s] * p.gone(s, after)
	seen = p.entries[s] - lost
	return seen, seen * (float64(after) + 0.5) * p.slot.Hours(), lost
}

// costs is what that costs. Who waits longer than a lost entry counts for is
// lost as well.
func (p *planner) costs(s, after int, loss float64) float64 {
	seen, waits, lost := p.becomes(s, after)
	return min(waits, loss*seen) + loss*lost
}

// solve finds the fetches. No entry gains by a fetch that is put off, so that the
// fetch before a later fetch is not earlier.
func (p *planner) solve(price Price) plan {
	n := len(p.entries)
	best := make([]float64, n+1) // with a fetch at the end of slot b
	before := make([]int, n+1)   // the fetch before it
	for b := 1; b <= n; b++ {
		best[b] = -1
		cost := price.Fetch
		for a := b - 1; a >= max(before[b-1], b-p.reach); a-- {
			cost += p.costs(a, b-1-a, price.Loss)
			if total := best[a] + cost; best[b] < 0 || total < best[b] {
				best[b], before[b] = total, a
			}
		}
	}
	var plan plan
	for b := n; b > 0; b = before[b] {
		p.fetch(&plan.outcome, before[b], b)
		plan.next = p.last.Add(time.Duration(b) * p.slot)
	}
	return plan
}

// fetch adds a fetch at the end of slot b, after one at the end of slot a.
func (p *planner) fetch(o *outcome, a, b int) {
	o.fetches++
	for s := a; s < b; s++ {
		seen, waits, _ := p.becomes(s, b-1-s)
		o.entries += p.entries[s]
		o.seen += seen
		o.read += seen
		o.waits += waits
	}
}

// evenly is what becomes of the entries with a fetch each so many slots.
func (p *planner) evenly(slots int) outcome {
	var o outcome
	for a := 0; a < len(p.entries); a += slots {
		p.fetch(&o, a, min(a+slots, len(p.entries)))
	}
	return o
}
