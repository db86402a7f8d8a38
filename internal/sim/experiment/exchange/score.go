package exchange

import (
	"slices"
	"time"
)

// Range is a mean of nodes, and where nine tenths of them lie.
type Range struct {
	Mean   float64 `json:"mean"`
	Median float64 `json:"median"`
	P5     float64 `json:"p5"`
	P95    float64 `json:"p95"`
}

func rangeOf(v []float64) Range {
	if len(v) == 0 {
		return Range{}
	}
	slices.Sort(v)
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	at := func(share float64) float64 { return v[int(share*float64(len(v)-1)+0.5)] }
	return Range{sum / float64(len(v)), at(0.5), at(0.05), at(0.95)}
}

// Score is how one system came off at one interval.
type Score struct {
	System  string  `json:"system"`
	Looks   float64 `json:"looks"`       // at a feed, an hour
	Lag     Range   `json:"lag_minutes"` // of node means, from publication
	Missed  Range   `json:"missed"`      // share, of nodes
	Spread  Range   `json:"spread_s"`    // of node means, from when the first node has an entry
	Checks  float64 `json:"checks"`      // received by a node, a minute
	Puts    float64 `json:"puts"`        // received by a node, a minute
	Bundles float64 `json:"bundles"`     // of them, those that brought something new
	Bundle  float64 `json:"bundle"`      // entries of a put
	Repairs int     `json:"repairs"`     // bundles that a node heard of by a beacon only
}

// Ratio is announcements received for each bundle received that brought something.
func (s Score) Ratio() float64 {
	if s.Bundles == 0 {
		return 0
	}
	return s.Checks / s.Bundles
}

// score judges what nodes hold of what they subscribe to, of what was published
// in a stretch; only those nodes for which of says so. Free riders pass
// nothing on, so nobody is late who has not what only they have.
func (w *world) score(system string, subscriptions [][]int, from, to time.Duration, of func(node int) bool) Score {
	s := Score{System: system, Repairs: w.repairs}
	first := w.first()
	var lag, missed, spread []float64
	for i, set := range subscriptions {
		if !of(i) {
			continue
		}
		var entries, have, told int
		var late, behind time.Duration
		for _, f := range set {
			for e, at := range w.feeds[f].published {
				if at < from || at >= to {
					continue
				}
				entries++
				if got := w.stores[i][f][e]; got != missing {
					have++
					late += got - at
					if at := first[f][e]; at != missing && got >= at {
						behind += got - at
						told++
					}
				}
			}
		}
		if entries > 0 {
			missed = append(missed, 1-float64(have)/float64(entries))
		}
		if have > 0 {
			lag = append(lag, late.Minutes()/float64(have))
			spread = append(spread, behind.Seconds()/float64(max(told, 1)))
		}
	}
	s.Lag, s.Missed, s.Spread = rangeOf(lag), rangeOf(missed), rangeOf(spread)
	minutes := (w.until - w.from).Minutes() * float64(len(w.nodes))
	s.Looks = float64(w.looks) / (w.until - w.from).Hours() / float64(len(w.feeds))
	s.Checks, s.Puts, s.Bundles = float64(w.checks)/minutes, float64(w.puts)/minutes, float64(w.bundles)/minutes
	s.Bundle = float64(w.entries) / float64(max(1, w.puts))
	return s
}

// first is when anybody but the riders had each entry.
func (w *world) first() store {
	first := newStore(w.feeds)
	for _, s := range w.stores[w.riders:] {
		for f := range s {
			for e, at := range s[f] {
				if at != missing && (first[f][e] == missing || at < first[f][e]) {
					first[f][e] = at
				}
			}
		}
	}
	return first
}
