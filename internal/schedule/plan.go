package schedule

import "time"

const (
	slotsAnInterval = 8  // how finely a plan tells times
	maxReach        = 64 // slots between two looks of a plan
	maxSlots        = 2000
)

// Plan is when a feed that publishes by the hour is looked at best: the looks
// of a stretch that cost the least together, those of entries that wait and are
// lost, and the price of each look. It is the exact answer of the model, by
// dynamic programming, where Due looks at the past of one look alone; it needs
// to know how long entries stay, and costs some ten thousand steps.
type Plan struct {
	Next time.Time // the first look
	outcome
}

// Plan plans from the last look on through a stretch, the last look of which is
// at its end. typical is about how far apart looks are.
func (p Price) Plan(r *Rhythm, lives *Lives, last time.Time, stretch, typical time.Duration) Plan {
	return newPlanner(r, lives, p.Rates.PerDay(r), last, stretch, planned(typical)).solve(p)
}

// planned is the slot for looks that are about so far apart.
func planned(typical time.Duration) time.Duration {
	return min(max(typical/slotsAnInterval, 5*time.Minute), time.Hour)
}

// planner knows what becomes of the entries of each slot of a stretch.
type planner struct {
	last    time.Time
	slot    time.Duration
	entries []float64 // expected in a slot
	part    []int     // of the day
	gone    [dayParts][]float64
}

func newPlanner(r *Rhythm, lives *Lives, perDay float64, last time.Time, stretch, slot time.Duration) *planner {
	n := min(max(1, int(stretch/slot)), maxSlots)
	p := &planner{last: last, slot: slot, entries: make([]float64, n), part: make([]int, n)}
	for s := range n {
		from := last.Add(time.Duration(s) * slot)
		p.entries[s] = perDay / 24 * r.over(from, from.Add(slot)) * slot.Hours()
		p.part[s] = from.UTC().Hour() * dayParts / 24
	}
	for part := range dayParts {
		p.gone[part] = make([]float64, min(n, maxReach))
		for k := range p.gone[part] {
			p.gone[part][k] = lives.gone(part*24/dayParts, (float64(k)+0.5)*slot.Hours())
		}
	}
	return p
}

func (p *planner) hours() float64 { return float64(len(p.entries)) * p.slot.Hours() }

// becomes is what becomes of the entries of slot s when the next look is at the
// end of the slot that lies after slots later.
func (p *planner) becomes(s, after int) (seen, waits, lost float64) {
	lost = p.entries[s] * p.gone[p.part[s]][after]
	seen = p.entries[s] - lost
	return seen, seen * (float64(after) + 0.5) * p.slot.Hours(), lost
}

// costs is what that costs. Who waits longer than a lost entry counts for is
// lost as well.
func (p *planner) costs(s, after int, loss float64) float64 {
	seen, waits, lost := p.becomes(s, after)
	return min(waits, loss*seen) + loss*lost
}

func (p *planner) solve(price Price) Plan {
	n, reach := len(p.entries), len(p.gone[0])
	best := make([]float64, n+1) // with a look at the end of slot b
	before := make([]int, n+1)   // the look before it
	for b := 1; b <= n; b++ {
		best[b] = -1
		cost := price.Look
		for a := b - 1; a >= max(0, b-reach); a-- {
			cost += p.costs(a, b-1-a, price.Loss)
			if total := best[a] + cost; best[b] < 0 || total < best[b] {
				best[b], before[b] = total, a
			}
		}
	}
	var plan Plan
	for b := n; b > 0; b = before[b] {
		p.look(&plan.outcome, before[b], b)
		plan.Next = p.last.Add(time.Duration(b) * p.slot)
	}
	return plan
}

// look adds a look at the end of slot b, after one at the end of slot a.
func (p *planner) look(o *outcome, a, b int) {
	o.looks++
	for s := a; s < b; s++ {
		seen, waits, _ := p.becomes(s, b-1-s)
		o.entries += p.entries[s]
		o.seen += seen
		o.waits += waits
	}
}

// evenly is what becomes of the entries with a look each so many slots.
func (p *planner) evenly(slots int) outcome {
	var o outcome
	for a := 0; a < len(p.entries); a += slots {
		p.look(&o, a, min(a+slots, len(p.entries)))
	}
	return o
}
