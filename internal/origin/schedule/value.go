package schedule

import (
	"math"
	"time"

	"github.com/feedring/feedring"
)

// Horizon is the longest that a feed is left alone. An interval so long means
// that no fetch of the feed is worth its price.
const Horizon = 90 * 24 * time.Hour

// Price is what expected loss goes by, the same for all feeds that share a
// budget. Both are in hours that an entry waits.
//
// The model: entries come by a Poisson process of the feed's Rhythm. Each that
// is seen costs the hours that it waited, each that is gone before a fetch costs
// Loss. If C(t) is what a feed has cost when it was not fetched for t, the
// best t for a fetch of the price p is where t C'(t) - C(t) = p (renewal reward:
// the derivative of (C(t)+p)/t is zero). For an even rate and a wide window that
// is rate t^2/2 = p, the square root rule of MinDelay; for so few fetches that
// every window overflows it is window * Loss = p, the greedy of MinMissing.
// Between the two it weighs one against the other. Whose fetch is not worth p
// after Loss hours is given up: its entries would wait longer than lost ones
// count for.
type Price struct {
	Fetch, Loss float64
	Rates       *Prior // what the population says of feeds' rates; nil: nothing
}

// Site is what a fetch's value hangs on beside the Rhythm.
type Site struct {
	Window    int        // entries that the document holds
	Residence *Residence // how long entries stay; nil, or too few: as the window says

	// Weight is what an entry counts for beside one of the mean feed: see Price.weighed. 0 is
	// 1, and it is held within feedring's bounds of weights.
	Weight float64

	// Jitter, from 0 to 1, is the feed's own, and the same all the time. Of many
	// feeds of which equally little is known a price would take all or none:
	// what a lost entry counts for is a little more where there is luck.
	Jitter float64
}

// weight is Site.Weight within its bounds; what is not above 0 is 1.
func weight(w float64) float64 {
	if !(w > 0) {
		return 1
	}
	return min(max(w, feedring.LeastWeight), feedring.MostWeight)
}

// weighed is p for one feed. What a fetch saves is multiplied by the weight: of a feed that
// counts twice as much, it is worth its price where it saves half of that. Lost entries are
// multiplied by less, as lossWeight says.
func (p Price) weighed(w float64) Price {
	w = weight(w)
	p.Fetch /= w
	p.Loss *= lossWeight(w) / w
	return p
}

// lossWeight is what a lost entry of a feed with a weight counts for. With the weight itself
// up to a quarter more would be lost of all, at feeds that few read; with 1, feeds that many read and
// that publish little would be given up, since their entries wait for longer than a lost one
// counts for.
func lossWeight(w float64) float64 { return math.Pow(max(1, w), 0.75) }

// jitterRange is between the losses of the luckiest and the unluckiest: e^jitterRange.
const jitterRange = 0.1

func jittered(loss, jitter float64) float64 { return loss * math.Exp(jitterRange*(jitter-0.5)) }

// Due returns when a fetch of a feed that was fetched at last is worth the
// price. It is no later than Horizon after that.
func (p Price) Due(r *Rhythm, site Site, last time.Time) time.Time {
	perDay := p.Rates.PerDay(r)
	step := p.Interval(perDay, site) / 24
	p = p.weighed(site.Weight)
	loss := jittered(p.Loss, site.Jitter)
	step = min(max(step, 5*time.Minute), 24*time.Hour)
	s := stretch{window: site.Window}
	hours := p.Rates.hours(r)
	for t := last; ; {
		next := t.Truncate(step).Add(step)
		was := s.worth(loss)
		s.pass(next.Sub(t).Hours(), perDay/24*hours.over(t, next))
		if now := s.worth(loss); now >= p.Fetch {
			// It grows like the square of time.
			part := (math.Sqrt(p.Fetch) - math.Sqrt(was)) / (math.Sqrt(now) - math.Sqrt(was))
			return t.Add(time.Duration(min(1, max(0, part)) * float64(next.Sub(t))))
		}
		if t = next; t.Sub(last) >= Horizon {
			return t
		}
	}
}

// Interval is Due for entries that come evenly, so many a day.
func (p Price) Interval(perDay float64, site Site) time.Duration {
	low, high := 0.0, Horizon.Hours()
	p = p.weighed(site.Weight)
	loss := jittered(p.Loss, site.Jitter)
	for range 20 {
		middle := (low + high) / 2
		even := stretch{window: site.Window, hours: middle, entries: middle * perDay / 24}
		if even.worth(loss) < p.Fetch {
			low = middle
		} else {
			high = middle
		}
	}
	return time.Duration(high * float64(time.Hour))
}

// stretch is the time since a fetch, in hours.
type stretch struct {
	window  int
	hours   float64
	entries float64 // expected
}

func (s *stretch) pass(hours, rate float64) {
	s.entries += rate * hours
	s.hours += hours
}

// worth is t C'(t) - C(t), for the mean rate since the fetch. It never falls, and
// grows no more when entries have waited for loss hours.
func (s *stretch) worth(loss float64) float64 {
	hours, entries := s.hours, s.entries
	if hours > loss {
		hours, entries = loss, entries*loss/hours
	}
	if entries <= 0 {
		return 0
	}
	return overflow(entries, s.window).worth(hours, entries, loss)
}

// overflowed is what becomes of a Poisson number of entries until a fetch.
type overflowed struct {
	full  float64 // the probability that the window is full, so that the next that comes pushes one out
	lost  float64 // entries pushed out, in the mean
	waits float64 // what the others wait together, in mean gaps between entries: half of n(n-1) for n of them
}

// worth is stretch.worth of so many hours, no more than loss, and entries.
func (o overflowed) worth(hours, entries, loss float64) float64 {
	grows := entries * (hours*(1-o.full) + loss*o.full)
	return grows - loss*o.lost - o.waits*hours/entries
}

// overflow is exact for small windows, and for large ones by a normal
// distribution.
func overflow(mean float64, window int) overflowed {
	if mean < float64(window)/8 {
		return overflowed{waits: mean * mean / 2}
	}
	if mean > 60 || window > 100 {
		return overflowNormal(mean, float64(window))
	}
	p := math.Exp(-mean) // of n entries
	below, room, waits := 0.0, 0.0, 0.0
	for n := range window {
		below += p
		room += p * float64(window-n)
		waits += p * float64(n*(n-1)/2)
		p *= mean / float64(n+1)
	}
	s := float64(window)
	waits += p*s*(s-1)/2 + max(0, 1-below-p)*s*(s+1)/2
	// E(N-S)+ = E(N) - S + E(S-N)+
	return overflowed{full: max(0, 1-below), lost: max(0, mean-s+room), waits: waits}
}

func overflowNormal(mean, window float64) overflowed {
	deviation := math.Sqrt(mean)
	above := func(n float64) (share, density float64) {
		z := (n - mean) / deviation
		return math.Erfc(z/math.Sqrt2) / 2, math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	}
	full, _ := above(window - 0.5)
	over, density := above(window)
	lost := deviation*density + (mean-window)*over
	// Of n as many as the window holds n(n-1)/2, of more as of one more than that.
	over, density = above(window + 0.5)
	squares := (mean*mean+mean)*(1-over) - (mean+window+0.5)*deviation*density
	sums := mean*(1-over) - deviation*density
	return overflowed{full: full, lost: max(0, lost), waits: max(0, (squares-sums+window*(window+1)*over)/2)}
}
