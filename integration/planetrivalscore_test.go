package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/feedring/feedring/internal/sim/experiment/exchange"
)

// rivalResult is what a node of the program feedex prints.
type rivalResult struct {
	Every   time.Duration      `json:"every"`
	Alone   bool               `json:"alone"`
	Held    [][3]time.Duration `json:"held"`
	Fetched [][3]time.Duration `json:"fetched"`
	Links   int                `json:"links"`
	Counts  rivalCounts        `json:"counts"`
}

type rivalCounts struct {
	Checks     int `json:"checks"`
	Puts       int `json:"puts"`
	Fresh      int `json:"fresh"`
	Entries    int `json:"entries"`
	Calls      int `json:"calls"`
	Failed     int `json:"failed"`
	Fetches    int `json:"fetches"`
	Unfetched  int `json:"fetches_failed"`
	CheckBytes int `json:"check_bytes"`
	PutBytes   int `json:"put_bytes"`
}

// results waits for the programs' ends: by interval and machine, and of those who only poll.
func (r *rivalRun) results(rivals []*process) (nodes map[time.Duration][]rivalResult, hourly []rivalResult) {
	r.t.Helper()
	nodes = make(map[time.Duration][]rivalResult)
	for i, p := range rivals {
		select {
		case <-p.done:
		case <-time.After(30 * time.Second):
			r.t.Fatalf("FeedEx's node %d goes on after SIGTERM", i)
		}
		n := 0
		for _, l := range p.output() {
			var one rivalResult
			must(r.t, json.Unmarshal([]byte(l.text), &one))
			if n++; one.Alone {
				hourly = append(hourly, one)
			} else {
				nodes[one.Every] = append(nodes[one.Every], one)
			}
		}
		if n != len(r.intervals)+1 {
			r.t.Fatalf("FeedEx's node %d printed %d results: %s", i, n, p.errors())
		}
	}
	return nodes, hourly
}

func listed(all [][3]time.Duration) arrivals {
	a := make(arrivals)
	for _, e := range all {
		a[[2]int{int(e[0]), int(e[1])}] = e[2]
	}
	return a
}

// score is the lag in minutes and the share missed, both as means of nodes.
type score struct{ lag, missed float64 }

func (s score) String() string { return fmt.Sprintf("%.2f min / %.2f %%", s.lag, 100*s.missed) }

// score judges what each node knew at the end of what its feeds published in the run.
func (r *rivalRun) score(of func(node int) arrivals) score {
	var s score
	lags, nodes := 0, 0
	for i, set := range r.replay.Subscriptions() {
		came := of(i)
		var entries, have int
		var late time.Duration
		for _, f := range set {
			for e, at := range r.replay.Feeds[f].At {
				if at < 0 {
					continue
				}
				entries++
				if got, ok := came[[2]int{f, e}]; ok && got <= r.length {
					have++
					late += got - at
				}
			}
		}
		if entries > 0 {
			s.missed += 1 - float64(have)/float64(entries)
			nodes++
		}
		if have > 0 {
			s.lag += late.Minutes() / float64(have)
			lags++
		}
	}
	return score{s.lag / float64(max(lags, 1)), s.missed / float64(max(nodes, 1))}
}

// requests is how often the origin of a feed was asked by a system, in a virtual hour.
func (r *rivalRun) requests(system string, every time.Duration) float64 {
	sum := 0
	for _, s := range r.sites {
		s.mu.Lock()
		sum += s.asked[fmt.Sprintf("%s/%v", system, every)]
		s.mu.Unlock()
	}
	return float64(sum) / float64(len(r.sites)) / r.length.Hours()
}

// bundles is how many fetches of the peer for all brought something new, if it fetched as
// often as its origins say.
func (r *rivalRun) bundles(every time.Duration) int {
	n := 0
	own := r.came[every][slices.Index(r.intervals, every)]
	for f := range r.sites {
		times := make(map[time.Duration]bool)
		for e, at := range own {
			if e[0] == f && at <= r.length {
				times[at.Round(r.virtual(100*time.Millisecond))] = true // of one fetch
			}
		}
		n += len(times)
	}
	return n
}

func (r *rivalRun) virtual(real time.Duration) time.Duration {
	return time.Duration(float64(real) * r.speed)
}

// feedexPrinted is what FeedEx's paper prints.
var feedexPrinted = map[time.Duration]string{
	30 * time.Minute: "alone ÷ FeedEx 7.0; bundles of 2.67", 16 * time.Hour: "alone 5.7 h, 64 %; FeedEx 22 min, 10 %; alone ÷ FeedEx 15.2; bundles of 3.65",
}

// report says what was measured, beside the model and what is printed. The goals are judged
// in a run that counts. What must hold on any machine is that nodes exchange, and that what one
// peer of ours has all have.
func (r *rivalRun) report(nodes map[time.Duration][]rivalResult, hourly []rivalResult, sent float64, strained strain) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.t.Logf("%d machines, %d feeds of which each reads %d, %v at %v times the speed, r = %v, one packet lost in %.0f", len(r.machines), r.feeds, r.each, r.length, r.speed, r.rivalConfig.refresh, 1/planetLoss)
	r.t.Log(strained)
	var wrong, missed []string
	bundles := 0
	for _, every := range r.intervals {
		w, m := r.reportInterval(every, nodes[every])
		wrong, missed = append(wrong, w...), append(missed, m...)
		bundles += r.bundles(every)
	}
	polling := r.score(func(i int) arrivals { return listed(hourly[i].Fetched) })
	r.t.Logf("hourly, each by itself: %v; %.2f requests at an origin an hour", polling, r.requests("hourly", time.Hour))
	each := sent / float64(max(1, bundles*(len(r.machines)-1)))
	r.t.Logf("ours, all intervals: %d bundles, %.2f messages for each at each other peer beyond those of idle peers (goal 2)", bundles, each)
	if each > 2 {
		missed = append(missed, "messages for each bundle")
	}
	switch {
	case strained.much():
		if !r.t.Failed() {
			r.t.Skipf("not played: times do not count, since the machine was %v", strained)
		}
	case len(wrong) > 0 || len(missed) > 0 && !r.short: // a short run has too few fetches for the others
		r.t.Errorf("goals missed: %v, %v", wrong, missed)
	}
}

// reportInterval says what was measured at one interval. It returns what is wrong in a run of any
// length that counts, and which goals a long one missed.
func (r *rivalRun) reportInterval(every time.Duration, nodes []rivalResult) (wrong, missed []string) {
	r.t.Helper()
	replay := r.replay
	replay.Every = every
	model := replay.Row()
	alone := r.score(func(i int) arrivals { return listed(nodes[i].Fetched) })
	feedex := r.score(func(i int) arrivals { return listed(nodes[i].Held) })
	ours := r.score(func(i int) arrivals { return r.came[every][i] })
	of := func(s exchange.Score) score { return score{s.Lag.Mean, s.Missed.Mean} }
	r.t.Logf("interval %v (printed: %s)", every, feedexPrinted[every])
	r.t.Logf("  alone %v (model %v)", alone, of(model.Alone))
	r.t.Logf("  FeedEx %v (model %v, live is %.2f of it); alone ÷ FeedEx %.1f (model %.1f); %.2f requests at an origin an hour (model %.2f)", feedex, of(model.FeedEx), feedex.lag/model.FeedEx.Lag.Mean,
		alone.lag/feedex.lag, model.Alone.Lag.Mean/model.FeedEx.Lag.Mean, r.requests("feedex", every), model.FeedEx.Looks)
	r.t.Logf("  ours %v (model %v), %.2f of FeedEx's lag (goal 0.55); %.2f requests at an origin an hour", ours, of(model.Ours), ours.lag/feedex.lag, r.requests("ours", every))
	var c rivalCounts
	for _, n := range nodes {
		c.Checks, c.Puts, c.Fresh, c.Entries = c.Checks+n.Counts.Checks, c.Puts+n.Counts.Puts, c.Fresh+n.Counts.Fresh, c.Entries+n.Counts.Entries
		c.Calls, c.Failed, c.Fetches, c.Unfetched = c.Calls+n.Counts.Calls, c.Failed+n.Counts.Failed, c.Fetches+n.Counts.Fetches, c.Unfetched+n.Counts.Unfetched
		c.CheckBytes, c.PutBytes = max(c.CheckBytes, n.Counts.CheckBytes), max(c.PutBytes, n.Counts.PutBytes)
		if n.Links == 0 {
			r.t.Errorf("a FeedEx node has no neighbour")
		}
	}
	minutes := r.length.Minutes() * float64(len(nodes))
	r.t.Logf("  FeedEx: %.2f check_did of %d bytes (printed 6.3, 344), %.2f put_entries (printed 0.9; model %.2f and %.2f) that a node receives a minute; %.2f entries of a put (model %.2f); %.2f checks a new bundle (model %.2f); "+
		"%d of %d calls and %d of %d fetches failed", float64(c.Checks)/minutes, c.CheckBytes, float64(c.Puts)/minutes, model.FeedEx.Checks, model.FeedEx.Puts, float64(c.Entries)/float64(max(1, c.Puts)), model.FeedEx.Bundle,
		float64(c.Checks)/float64(max(1, c.Fresh)), model.FeedEx.Ratio(), c.Failed, c.Calls, c.Unfetched, c.Fetches)

	if c.Puts == 0 || c.Checks < c.Puts || c.Failed*20 > c.Calls {
		r.t.Errorf("%v: FeedEx's nodes do not exchange: %+v", every, c)
	}
	if feedex.lag >= alone.lag || ours.lag >= alone.lag || ours.missed > alone.missed {
		wrong = append(wrong, fmt.Sprintf("%v: whoever exchanges learns sooner and no less than alone", every))
	}
	if ratio := feedex.lag / model.FeedEx.Lag.Mean; ratio > 1.5 || ratio < 1/1.5 {
		wrong = append(wrong, fmt.Sprintf("%v: FeedEx within 1.5 of its model", every))
	}
	if ours.lag > 0.55*feedex.lag {
		missed = append(missed, fmt.Sprintf("%v: 0.55 of FeedEx's lag", every))
	}
	if ours.missed > feedex.missed {
		missed = append(missed, fmt.Sprintf("%v: no more missed than FeedEx", every))
	}
	return wrong, missed
}
