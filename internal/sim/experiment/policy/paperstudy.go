package policy

import (
	"math"
	"slices"

	"github.com/feedring/feedring/internal/sim/experiment"
)

// PaperConfig is what is played of the paper's experiment.
type PaperConfig struct {
	Seed     uint64   `json:"seed"`  // the first
	Seeds    int      `json:"seeds"` // how many
	Looks    []int    `json:"looks"` // in three weeks
	Workload Workload `json:"workload"`
}

// PaperLooks are the paper's budgets: 1,000 to 20,000 by thousands.
func PaperLooks() []int {
	var all []int
	for m := 1000; m <= 20_000; m += 1000 {
		all = append(all, m)
	}
	return all
}

// PaperResult is how the paper's rules and expected loss came off.
type PaperResult struct {
	Config   PaperConfig  `json:"config"`
	Printed  []Comparison `json:"printed"`
	Expected Means        `json:"expected"` // of expected loss, which is not in the paper
	Rows     []PaperRow   `json:"rows"`     // by seed, then by looks
	Met      int          `json:"met"`      // rows without a fault
}

// PaperRow is one budget with one seed.
type PaperRow struct {
	Seed uint64 `json:"seed"`
	StudyRow
	Fault string `json:"fault,omitempty"` // what StudyRow.Fault says
}

// Comparison is a number that the paper prints, and ours.
type Comparison struct {
	What   string  `json:"what"`
	Unit   string  `json:"unit"` // a Unit below
	Paper  float64 `json:"paper"`
	Ours   float64 `json:"ours"`
	Within float64 `json:"within,omitempty"` // how far off ours may be; 0: it was not fitted, or budgets are not the paper's
}

// The units of comparisons.
const (
	UnitShare = "share"
	UnitRatio = "ratio"
	UnitCount = "postings"
)

// Holds says whether ours is near enough, if that was asked.
func (c Comparison) Holds() bool {
	return c.Within == 0 || c.Ours >= c.Paper-c.Within && c.Ours <= c.Paper+c.Within
}

// Means are over budgets and seeds.
type Means struct {
	Missed float64 `json:"missed"` // share
	DelayH float64 `json:"delay_h"`
}

// Paper plays the paper's experiment, with expected loss beside its rules.
func Paper(cfg PaperConfig, progress experiment.Progress) PaperResult {
	r := PaperResult{Config: cfg}
	for i := range cfg.Seeds {
		seed := cfg.Seed + uint64(i)
		trace := cfg.Workload.Trace(seed)
		for _, looks := range cfg.Looks {
			progress.Tell(len(r.Rows), cfg.Seeds*len(cfg.Looks), "seed %d, %d looks", seed, looks)
			row := PaperRow{Seed: seed, StudyRow: StudyRow{looks, append(static(trace, looks), Expected(trace, "expected loss", looks))}}
			if row.Fault = row.StudyRow.Fault(); row.Fault == "" {
				r.Met++
			}
			r.Rows = append(r.Rows, row)
		}
	}
	r.Printed = printed(r.Rows)
	if !slices.Equal(cfg.Looks, PaperLooks()) { // means over other budgets are other numbers
		for i := range r.Printed {
			r.Printed[i].Within = 0
		}
	}
	r.Expected = means(r.Rows, ByMinMissing+1)
	return r
}

// printed are the numbers of the paper's sections 3 and table 4. How table 4
// takes its means is not said: of the ratio of delays both are given. Its ratios
// of missing postings agree with ratios of the means.
func printed(rows []PaperRow) []Comparison {
	uniform, delay, missing := means(rows, ByUniform), means(rows, ByMinDelay), means(rows, ByMinMissing)
	all := []Comparison{
		{"missing postings, uniform", UnitShare, 0.37, uniform.Missed, 0.02},
		{"missing postings, minimum delay", UnitShare, 0.11, delay.Missed, 0.02},
		{"missing postings, minimum missing", UnitShare, 0.08, missing.Missed, 0.02},
	}
	var most []PaperRow
	ratios, entries := 0.0, 0
	for _, row := range rows {
		ratios += row.Scores[ByMinMissing].DelayH / row.Scores[ByMinDelay].DelayH
		entries += row.Scores[ByUniform].Entries
		if row.Looks == 20_000 {
			most = append(most, row)
		}
	}
	if len(most) > 0 {
		all = append(all, Comparison{"missing postings, minimum missing, M = 20,000", UnitShare, 0.02, means(most, ByMinMissing).Missed, 0.02})
	}
	n := float64(len(rows))
	all = append(all,
		Comparison{"delay, minimum missing / minimum delay, ratio of the means", UnitRatio, 1.06, missing.DelayH / delay.DelayH, 0.1},
		Comparison{"delay, minimum missing / minimum delay, mean of the ratios", UnitRatio, 1.06, ratios / n, 0.1},
		Comparison{"delay, minimum missing / uniform, ratio of the means", UnitRatio, 0.86, missing.DelayH / uniform.DelayH, 0},
		Comparison{"missing, minimum missing / minimum delay", UnitRatio, 0.77, missing.Missed / delay.Missed, 0},
		Comparison{"missing, minimum missing / uniform", UnitRatio, 0.23, missing.Missed / uniform.Missed, 0},
		Comparison{"postings that count", UnitCount, 22_399, float64(entries) / n, 0},
	)
	return slices.DeleteFunc(all, func(c Comparison) bool { return math.IsNaN(c.Ours) || math.IsInf(c.Ours, 0) }) // with so few looks that nothing is seen
}

func means(rows []PaperRow, policy int) Means {
	var m Means
	for _, row := range rows {
		m.Missed += row.Scores[policy].MissedShare() / float64(len(rows))
		m.DelayH += row.Scores[policy].DelayH / float64(len(rows))
	}
	return m
}
