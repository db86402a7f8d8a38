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
	Next  time.Time // the first look
	Looks int       // of the whole stretch
}

// Plan plans from the last look on through a stretch, the last look of which is
// at its end. typical is about how far apart looks are.
func (v Value) Plan(r *Rhythm, lives *Lives, last time.Time, stretch, typical time.Duration, price float64) Plan {
	slot := min(max(typical/slotsAnInterval, 5*time.Minute), time.Hour)
	n := min(max(1, int(stretch/slot)), maxSlots)
	reach := min(n, maxReach)
	p := planner{loss: v.Loss, slot: slot.Hours(), entries: make([]float64, n), part: make([]int, n)}
	for s := range n {
		from := last.Add(time.Duration(s) * slot)
		p.entries[s] = r.over(from, from.Add(slot)) * p.slot
		p.part[s] = from.UTC().Hour() * dayParts / 24
	}
	for part := range dayParts {
		p.gone[part] = make([]float64, reach)
		for k := range reach {
			p.gone[part][k] = lives.gone(part*24/dayParts, (float64(k)+0.5)*p.slot)
		}
	}
	return p.solve(reach, last, slot, price)
}

type planner struct {
	loss, slot float64
	entries    []float64 // expected in a slot
	part       []int     // of the day
	gone       [dayParts][]float64
}

// costs is what the entries of slot s cost when the next look is at the end of
// the slot that lies after slots later.
func (p *planner) costs(s, after int) float64 {
	waits := min(p.loss, (float64(after)+0.5)*p.slot)
	return p.entries[s] * (waits + p.loss*p.gone[p.part[s]][after])
}

func (p *planner) solve(reach int, last time.Time, slot time.Duration, price float64) Plan {
	n := len(p.entries)
	best := make([]float64, n+1) // with a look at the end of slot b
	first := make([]int, n+1)
	looks := make([]int, n+1)
	for b := 1; b <= n; b++ {
		best[b] = -1
		cost := price
		for a := b - 1; a >= max(0, b-reach); a-- {
			cost += p.costs(a, b-1-a)
			if total := best[a] + cost; best[b] < 0 || total < best[b] {
				best[b], looks[b] = total, looks[a]+1
				if first[b] = first[a]; a == 0 {
					first[b] = b
				}
			}
		}
	}
	return Plan{Next: last.Add(time.Duration(first[n]) * slot), Looks: looks[n]}
}
