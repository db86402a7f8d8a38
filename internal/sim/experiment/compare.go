package experiment

import (
	"fmt"
	"time"
)

// CompareConfig is one feed and its readers under five ways to spread it.
type CompareConfig struct {
	Seed     uint64        `json:"seed"`
	Readers  []int         `json:"readers"`      // of the models
	Peers    []int         `json:"peers"`        // sizes of one of our groups: of the models, and measured up to Measured
	Measured int           `json:"measured"`     // the largest group that runs on machines
	Attached []int         `json:"attached"`     // readers that attach on machines
	Hosts    int           `json:"hosts"`        // peers of the group that they attach to
	Poll     time.Duration `json:"poll_ns"`      // between two looks of a reader that polls
	Exchange time.Duration `json:"exchange_ns"`  // between two fetches of a FeedEx node
	Look     time.Duration `json:"look_ns"`      // between two looks of the one peer that fetches, ours and FeedTree's
	PerHour  float64       `json:"entries_hour"` // of the feed
	Hop      time.Duration `json:"hop_ns"`       // one message, one way

	Latencies Latencies `json:"latencies,omitempty"` // between peers on machines; Hop is then their median
}

// DefaultCompare goes from 10 to 100,000 readers.
func DefaultCompare() CompareConfig {
	return CompareConfig{Seed: 1, Readers: []int{10, 100, 1000, 10_000, 100_000}, Peers: []int{2, 5, 10, 20, 50, 64, 65, 100, 200, 500, 1000},
		Measured: 200, Attached: []int{10, 100, 1000, 10_000}, Hosts: 10, Poll: 30 * time.Minute, Exchange: 16 * time.Hour,
		Look: 15 * time.Minute, PerHour: 1, Hop: 50 * time.Millisecond}
}

// CompareResult keeps what was measured apart from what models say.
type CompareResult struct {
	Config   CompareConfig `json:"config"`
	Groups   []GroupLoad   `json:"groups"`   // measured, by size of the group
	AtOnce   []AtOnceLoad  `json:"at_once"`  // measured, by size of the group
	Attached []AttachLoad  `json:"attached"` // measured, by readers
	Rows     []CompareRow  `json:"rows"`     // models, by readers
}

// CompareRow is what each way costs with so many readers.
type CompareRow struct {
	Readers int           `json:"readers"`
	Polling SystemLoad    `json:"polling"`
	FeedEx  SystemLoad    `json:"feedex"`
	Scribe  SystemLoad    `json:"scribe"`
	Ours    []OurGroupRow `json:"ours"`
}

// OurGroupRow is ours with a group of so many peers.
type OurGroupRow struct {
	Peers int        `json:"peers"`
	Load  SystemLoad `json:"load"`
}

// SystemLoad is what one way of spreading a feed costs whom.
type SystemLoad struct {
	Origin    float64 `json:"origin_hour"` // requests that the site gets in an hour
	Publisher float64 `json:"publisher"`   // messages that the first to have an entry sends for it
	Busiest   float64 `json:"busiest"`     // … that anybody sends; where all poll, the site
	All       float64 `json:"all"`         // … that all send together
	Lag       float64 `json:"lag_s"`       // mean, from the entry's appearance on the site to a reader
}

// Compare runs machines, then reckons the models.
func Compare(cfg CompareConfig, progress Progress) (CompareResult, error) {
	if err := cfg.Latencies.Check(); err != nil {
		return CompareResult{Config: cfg}, err
	}
	cfg.Hop = cfg.Latencies.delay(cfg.Seed, cfg.Hop)
	result := CompareResult{Config: cfg}
	steps := len(cfg.Peers) + len(cfg.Attached) + len(cfg.Readers)
	done := 0
	for _, n := range cfg.Peers {
		progress.Tell(done, steps, "a group of %d peers", n)
		if n < 2 {
			return result, fmt.Errorf("a group of %d peers: at least 2 are needed", n)
		}
		if n <= cfg.Measured {
			load, err := measureGroup(cfg, n)
			if err != nil {
				return result, err
			}
			result.Groups = append(result.Groups, load)
			all, err := measureAtOnce(cfg, n)
			if err != nil {
				return result, err
			}
			result.AtOnce = append(result.AtOnce, all)
		}
		done++
	}
	for _, readers := range cfg.Attached {
		progress.Tell(done, steps, "%d readers attach", readers)
		load, err := measureAttach(cfg, readers)
		if err != nil {
			return result, err
		}
		result.Attached = append(result.Attached, load)
		done++
	}
	for _, readers := range cfg.Readers {
		progress.Tell(done, steps, "models of %d readers", readers)
		result.Rows = append(result.Rows, compareRow(cfg, readers))
		done++
	}
	progress.Tell(done, steps, "done")
	return result, nil
}

func compareRow(cfg CompareConfig, readers int) CompareRow {
	row := CompareRow{Readers: readers, Polling: Polling(cfg, readers), FeedEx: FeedEx(cfg, readers), Scribe: Scribe(cfg, readers)}
	for _, n := range cfg.Peers {
		row.Ours = append(row.Ours, OurGroupRow{Peers: n, Load: Ours(cfg, n, readers)})
	}
	return row
}

// perHour is how often something with an interval happens.
func perHour(interval time.Duration) float64 { return float64(time.Hour) / float64(interval) }
