package schedule

import "time"

// leaving is which part of the entries of a slot has left the document some slots
// later: by lives, by a window that fills, or none.
type leaving struct {
	reach int // slots

	part []int // of the day, of each slot
	aged [dayParts][]float64

	before []float64 // expected before each slot, and after the last
	step   float64
	full   [fullSteps + 1]float64 // the probability that so many steps of entries fill the window
}

const fullSteps = 64

// keeps says that no entry leaves.
func (p *planner) keeps() { p.reach = len(p.entries) }

func (p *planner) byLives(l *Residence) {
	p.reach = min(len(p.entries), maxReach)
	p.part = make([]int, len(p.entries))
	for s := range p.part {
		p.part[s] = p.last.Add(time.Duration(s)*p.slot).UTC().Hour() * dayParts / 24
	}
	for part := range dayParts {
		p.aged[part] = make([]float64, p.reach)
		for k := range p.aged[part] {
			p.aged[part][k] = l.gone(part*24/dayParts, (float64(k)+0.5)*p.slot.Hours())
		}
	}
}

func (p *planner) byWindow(window int) {
	p.keeps()
	p.before = make([]float64, len(p.entries)+1)
	for s, n := range p.entries {
		p.before[s+1] = p.before[s] + n
	}
	p.step = (2*float64(window) + 8) / fullSteps
	for i := range p.full {
		p.full[i] = overflow(float64(i)*p.step, window).full
	}
}

// gone is the part of the entries of slot s that is gone after slots later.
func (p *planner) gone(s, after int) float64 {
	if p.part != nil {
		return p.aged[p.part[s]][after]
	}
	if p.before == nil {
		return 0
	}
	at := (p.before[s+after+1] - (p.before[s]+p.before[s+1])/2) / p.step
	i := int(at)
	if i >= fullSteps {
		return 1
	}
	return p.full[i] + (at-float64(i))*(p.full[i+1]-p.full[i])
}
