package experiment

import (
	"fmt"
	"math"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/sim/experiment/stage"
)

// SearchConfig is the cost of a search against the number of groups.
type SearchConfig struct {
	Seed    uint64        `json:"seed"`
	Groups  []int         `json:"groups"`  // N, each one a ring of its own
	Queries int           `json:"queries"` // for each N and routing, for themes that are there
	Delay   time.Duration `json:"delay_ns"`

	Latencies Latencies `json:"latencies,omitempty"` // Delay is then their median
}

// DefaultSearch goes from 1 to 1,000 groups.
func DefaultSearch() SearchConfig {
	return SearchConfig{Seed: 1, Groups: []int{1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000}, Queries: 100, Delay: 5 * time.Millisecond}
}

// SearchResult has a row for each N.
type SearchResult struct {
	Config SearchConfig `json:"config"`
	Rows   []SearchRow  `json:"rows"`
}

// SearchRow is measured on machines but for Paper and the DHT's.
type SearchRow struct {
	Groups   int        `json:"groups"`
	Ring     SearchCost `json:"ring"`     // themes that are there, --routing ring
	Shortcut SearchCost `json:"shortcut"` // the same, with shortcuts
	Absent   SearchCost `json:"absent"`   // a theme that is nowhere: the ring is searched in both
	Paper    int        `json:"paper"`    // N + n + 4, with n = 1
	DHT      LookupCost `json:"dht"`
	Log2     float64    `json:"log2"`
}

// SearchCost is what finals say, and what the wire saw.
type SearchCost struct {
	Queries  int     `json:"queries"`
	Answered int     `json:"answered"`
	Messages float64 `json:"messages"` // mean of Final.Messages
	Most     int     `json:"most"`     // the greatest Final.Messages
	Depth    float64 `json:"depth"`    // mean of Final.Hops
	Deepest  int     `json:"deepest"`
	Wire     float64 `json:"wire"` // all messages of a query between peers, acknowledgements included, until the last arc ended
	Seconds  float64 `json:"seconds"`
}

// queryVerbs are all that travels between peers because of a query.
var queryVerbs = []feedring.Verb{"query", "accepted", "final", "search", "search-ack", "found", "exhausted",
	"place", "placed", "assign", "assigned"}

// Search measures the cost of a search.
func Search(cfg SearchConfig, progress Progress) (SearchResult, error) {
	if err := cfg.Latencies.Check(); err != nil {
		return SearchResult{Config: cfg}, err
	}
	cfg.Delay = cfg.Latencies.delay(cfg.Seed, cfg.Delay)
	result := SearchResult{Config: cfg}
	for i, n := range cfg.Groups {
		progress.Tell(i, len(cfg.Groups), "a ring of %d groups", n)
		if n < 1 {
			return result, fmt.Errorf("a ring of %d groups: at least 1 is needed", n)
		}
		row, err := searchRow(cfg, n)
		if err != nil {
			return result, err
		}
		result.Rows = append(result.Rows, row)
	}
	progress.Tell(len(cfg.Groups), len(cfg.Groups), "done")
	return result, nil
}

func searchRow(cfg SearchConfig, n int) (SearchRow, error) {
	s, slowest, err := ringOf(cfg, n)
	if err != nil {
		return SearchRow{}, err
	}
	row := SearchRow{Groups: n, Paper: n + 1 + 4, Log2: math.Log2(float64(n)), DHT: Kademlia(cfg.Seed, n, cfg.Queries)}
	var themes []feedring.Theme
	for i := range min(n, cfg.Queries) {
		if n > cfg.Queries {
			i = s.Random().IntN(n)
		}
		themes = append(themes, ThemeOf(i))
	}
	ring, shortcut := s.Hosts()[0], s.Hosts()[n-1]
	row.Ring = askAll(s, slowest, ring, themes)
	row.Shortcut = askAll(s, slowest, shortcut, themes)
	row.Absent = askAll(s, slowest, ring, []feedring.Theme{"absent"})
	return row, nil
}

// ringOf returns a ring of n groups of one peer each that all know. The last
// takes shortcuts, unless it is the only one. slowest is the longest that a message
// takes.
func ringOf(cfg SearchConfig, n int) (s *stage.Stage, slowest time.Duration, err error) {
	s = NewStage(cfg.Seed, time.Minute, time.Hour, cfg.Delay)
	slowest = cfg.Latencies.over(s, cfg.Seed)
	s.Routing = peer.RingOnly
	for i := range n {
		if i == n-1 && n > 1 {
			s.Routing = peer.Shortcut
		}
		enter(s, i, ThemeOf(i))
		if i == 0 {
			s.Run(time.Second) // the others find a ring, and join it all at once
		}
	}
	known := func() bool {
		for _, h := range s.Hosts() {
			if len(h.View().Ring) != n {
				return false
			}
		}
		return true
	}
	for range 20 {
		if s.Run(15 * time.Second); known() {
			return s, slowest, nil
		}
	}
	return nil, 0, fmt.Errorf("not everybody knows a ring of %d groups after %v", n, s.Now())
}

// askAll asks one peer for each of some themes, all at the same time.
func askAll(s *stage.Stage, slowest time.Duration, at *stage.Host, themes []feedring.Theme) SearchCost {
	cost := SearchCost{Queries: len(themes)}
	Forget(s)
	left := len(themes)
	start := s.Now()
	for _, theme := range themes {
		s.Ask("client", at, feedring.Query{Theme: theme}, time.Minute, func(f feedring.Final) {
			left--
			if f.Status == feedring.Answered {
				cost.Answered++
			}
			cost.Messages += float64(f.Messages)
			cost.Most = max(cost.Most, f.Messages)
			cost.Depth += float64(f.Hops)
			cost.Deepest = max(cost.Deepest, f.Hops)
			cost.Seconds += (s.Now() - start).Seconds()
		})
	}
	s.RunUntil(2*time.Minute, func() bool { return left == 0 })
	s.Run(time.Duration(len(s.Hosts())+10) * slowest) // for the other arc
	asked := float64(len(themes))
	cost.Messages, cost.Depth, cost.Seconds = cost.Messages/asked, cost.Depth/asked, cost.Seconds/asked
	cost.Wire = float64(sent(s, queryVerbs...)) / asked
	return cost
}
