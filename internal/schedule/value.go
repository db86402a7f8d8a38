package schedule

import (
	"math"
	"time"
)

// DefaultLoss is what a lost entry counts for, in intervals between looks as the
// mean entry meets them: with less entries are lost for the sake of delay, with
// more looks go where little is published.
const DefaultLoss = 10

// Horizon is the longest that a feed is left alone.
const Horizon = 90 * 24 * time.Hour

// Value is what a look at a feed is worth, in hours that entries need not wait.
// It grows from the last look on, and the feed is due when it reaches the
// price.
//
// The model: entries come by a Poisson process of the feed's Rhythm, each that
// waits costs an hour an hour, and each that is gone before a look costs Loss.
// If C(t) is what a feed has cost when it was not looked at for t, the best t
// for a look at the price p is where t C'(t) - C(t) = p (renewal reward: the
// derivative of (C(t)+p)/t is zero). For an even rate and a wide window that is
// rate t^2/2 = p, the square root rule of MinDelay; for so few looks that every
// window overflows it is window * Loss = p, the greedy of MinMissing. Between
// the two it weighs one against the other.
type Value struct {
	Loss float64 // hours that a lost entry counts for, and one that waits counts for at most
}

// Site is what a look's value hangs on beside the Rhythm.
type Site struct {
	Window int    // entries that the document holds
	Lives  *Lives // how long entries stay; nil, or too few: as the window says
}

// Due returns when a look at a feed that was looked at at last is worth price.
// It is no later than Horizon after that.
func (v Value) Due(r *Rhythm, site Site, last time.Time, price float64) time.Time {
	step := v.Interval(r.PerDay(), site, price) / 24
	step = min(max(step, 5*time.Minute), 24*time.Hour)
	s := stretch{window: site.Window}
	for t := last; ; {
		next := t.Truncate(step).Add(step)
		was := s.worth(v.Loss)
		s.pass(next.Sub(t).Hours(), r.over(t, next))
		if now := s.worth(v.Loss); now >= price {
			// It grows like the square of time.
			part := (math.Sqrt(price) - math.Sqrt(was)) / (math.Sqrt(now) - math.Sqrt(was))
			return t.Add(time.Duration(min(1, max(0, part)) * float64(next.Sub(t))))
		}
		if t = next; t.Sub(last) >= Horizon {
			return t
		}
	}
}

// Interval is Due for entries that come evenly, so many a day.
func (v Value) Interval(perDay float64, site Site, price float64) time.Duration {
	low, high := 0.0, Horizon.Hours()
	for range 20 {
		middle := (low + high) / 2
		even := stretch{window: site.Window, hours: middle, entries: middle * perDay / 24}
		if even.worth(v.Loss) < price {
			low = middle
		} else {
			high = middle
		}
	}
	return time.Duration(high * float64(time.Hour))
}

// stretch is the time since a look, in hours.
type stretch struct {
	window  int
	hours   float64
	entries float64 // expected
}

func (s *stretch) pass(hours, rate float64) {
	s.entries += rate * hours
	s.hours += hours
}

// worth is t C'(t) - C(t), for the mean rate since the look.
func (s *stretch) worth(loss float64) float64 {
	waits := min(s.hours, loss)
	worth := s.entries / max(s.hours, 1e-9) * waits * waits / 2
	if s.entries > float64(s.window)/4 {
		full, over := overflow(s.entries, s.window)
		worth += loss * max(0, s.entries*full-over)
	}
	return worth
}

// overflow returns the probability that at least window of a Poisson number of
// entries came, and how many fall out of the window in the mean.
func overflow(mean float64, window int) (full, over float64) {
	if mean > 60 || window > 100 {
		return overflowNormal(mean, float64(window))
	}
	p := math.Exp(-mean) // of n entries
	below, kept := 0.0, 0.0
	for n := range window {
		below += p
		kept += p * float64(window-n)
		p *= mean / float64(n+1)
	}
	// E(N-S)+ = E(N) - S + E(S-N)+
	return max(0, 1-below), max(0, mean-float64(window)+kept)
}

func overflowNormal(mean, window float64) (full, over float64) {
	deviation := math.Sqrt(mean)
	z := (window - 0.5 - mean) / deviation
	full = math.Erfc(z/math.Sqrt2) / 2
	over = deviation*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi) + (mean-window+0.5)*full
	return full, max(0, over)
}
