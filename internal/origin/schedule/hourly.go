package schedule

import (
	"math"
	"time"
)

// hourly is what a market knows of hours: feeds publish 1 + 2 share cos(h) times
// as much as in the mean, h from an hour of their own.
type hourly struct {
	share float64
	plans [hourlySteps]spaced
}

// spaced is what a plan does where fetches the same price, spread evenly, are so
// many hours apart.
type spaced struct {
	apart float64 // in the mean, as a part of that
	waits float64 // entries, as a part of what they wait with fetches so far apart, spread evenly
}

// hourlySteps are square roots of two, from an hour to three weeks.
const hourlySteps = 19

func newHourly(gathered float64) hourly {
	h := hourly{share: math.Sqrt(min(gathered, 0.25))} // with more it would be below zero at night
	for i := range h.plans {
		h.plans[i] = spaced{1, 1}
		if h.share > 0 {
			h.plans[i] = h.planned(math.Exp2(float64(i) / 2))
		}
	}
	return h
}

// planned plays a plan.
func (h *hourly) planned(hours float64) spaced {
	const slots, days = 16, 6
	slot := hours / slots
	p := &planner{slot: time.Duration(slot * float64(time.Hour)), entries: make([]float64, max(days*slots, int(days*24/slot)))}
	until := func(hours float64) float64 {
		return hours + 2*h.share*math.Sin(math.Pi*hours/12)*12/math.Pi
	}
	for s := range p.entries {
		p.entries[s] = until(float64(s+1)*slot) - until(float64(s)*slot)
	}
	p.keeps()
	o := p.solve(Price{Fetch: hours * hours / 2, Loss: Horizon.Hours()}).outcome
	apart := p.hours() / o.fetches
	return spaced{apart / hours, o.delay() / (apart / 2)}
}

// at is the plan for fetches so many hours apart.
func (h *hourly) at(hours float64) spaced {
	at := min(max(0, 2*math.Log2(hours)), hourlySteps-1.001)
	i := int(at)
	a, b, part := h.plans[i], h.plans[i+1], at-math.Floor(at)
	return spaced{a.apart + part*(b.apart-a.apart), a.waits + part*(b.waits-a.waits)}
}

// phases are cosines that stand for all of a turn.
var phases = [...]float64{-0.92388, -0.38268, 0.38268, 0.92388}

// overflow is of fetches so many hours apart, at any hour of the day.
func (h *hourly) overflow(hours, mean float64, window int) overflowed {
	turn := math.Pi * hours / 24
	swings := 2 * h.share * math.Abs(math.Sin(turn)/turn)
	if swings < 0.01 {
		return overflow(mean, window)
	}
	var sum overflowed
	for _, cos := range phases {
		times := 1 + swings*cos
		o := overflow(mean*times, window)
		sum.full += o.full / 4
		sum.lost += o.lost / 4
		sum.waits += o.waits / times / 4
	}
	return sum
}
