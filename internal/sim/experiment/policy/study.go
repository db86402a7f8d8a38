package policy

import (
	"fmt"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/origin/schedule"
	"github.com/feedring/feedring/internal/sim/experiment"
)

// StudyConfig is what is played.
type StudyConfig struct {
	Seed     uint64          `json:"seed"`
	Looks    []int           `json:"looks"`    // of the synthetic feeds, in three weeks
	Every    []time.Duration `json:"every_ns"` // of the captured feed, in the mean
	Phases   int             `json:"phases"`   // starts of the captured feed, which are averaged
	Captured *Trace          `json:"-"`        // nil: none
}

// DefaultStudy is the paper's range of budgets.
func DefaultStudy() StudyConfig {
	return StudyConfig{
		Looks:  []int{1000, 2000, 3000, 5000, 7000, 10000, 15000, 20000},
		Every:  []time.Duration{time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 16 * time.Hour},
		Phases: 8,
	}
}

// StudyResult is how all schedulers came off.
type StudyResult struct {
	Config   StudyConfig `json:"config"`
	Even     []StudyRow  `json:"even"`  // synthetic feeds that publish evenly through the day
	Hours    []StudyRow  `json:"hours"` // … by the hours of the people who write them
	Captured []StudyRow  `json:"captured,omitempty"`
}

// StudyRow is one budget.
type StudyRow struct {
	Looks  int     `json:"looks"`
	Scores []Score `json:"scores"`
}

// The schedulers with which StudyRow.Scores begins. Expected loss is the last.
const (
	ByUniform = iota
	ByMinDelay
	ByMinMissing
)

// Study plays all of it.
func Study(cfg StudyConfig, progress experiment.Progress) StudyResult {
	r := StudyResult{Config: cfg}
	total, done := 2*len(cfg.Looks), 0
	if cfg.Captured != nil {
		total += len(cfg.Every)
	}
	for _, hours := range []bool{false, true} {
		trace := Synthetic(cfg.Seed, hours)
		for _, looks := range cfg.Looks {
			progress.Tell(done, total, "%d looks", looks)
			row := StudyRow{looks, scores(trace, looks)}
			if hours {
				r.Hours = append(r.Hours, row)
			} else {
				r.Even = append(r.Even, row)
			}
			done++
		}
	}
	if cfg.Captured == nil {
		return r
	}
	for _, every := range cfg.Every {
		progress.Tell(done, total, "a look in %s", every)
		r.Captured = append(r.Captured, cfg.captured(every))
		done++
	}
	return r
}

func scores(t *Trace, looks int) []Score {
	return append(static(t, looks),
		Adaptive(t, "FeedEx as printed", true, looks),
		Adaptive(t, "FeedEx reversed", false, looks),
		Expected(t, "expected loss", looks),
	)
}

// static are the minimum-missing paper's own rules.
func static(t *Trace, looks int) []Score {
	return []Score{
		ByUniform:    Even(t, "uniform", schedule.Uniform, looks),
		ByMinDelay:   byMinDelay(t, looks),
		ByMinMissing: Even(t, "minimum missing", schedule.MinMissing, looks),
	}
}

func byMinDelay(t *Trace, looks int) Score {
	return Even(t, "minimum delay", schedule.MinDelay, looks)
}

// captured plays one feed from several starts, since with one feed chance is in
// where the looks happen to lie.
func (cfg StudyConfig) captured(every time.Duration) StudyRow {
	row := StudyRow{Looks: int(cfg.Captured.Length / every)}
	for phase := range cfg.Phases {
		t := *cfg.Captured
		t.Begin = t.Begin.Add(every * time.Duration(phase) / time.Duration(cfg.Phases))
		t.Length -= every
		for i, s := range scores(&t, row.Looks) {
			if phase == 0 {
				row.Scores = append(row.Scores, Score{Policy: s.Policy})
			}
			sum := &row.Scores[i]
			seen := float64(sum.Entries - sum.Missed)
			now := float64(s.Entries - s.Missed)
			sum.DelayH = (sum.DelayH*seen + s.DelayH*now) / max(1, seen+now)
			sum.Looks += s.Looks
			sum.Entries += s.Entries
			sum.Missed += s.Missed
		}
	}
	return row
}

// Fault says where expected loss does not keep what is asked of it: at no budget
// more missing than minimum missing, nor more delay than minimum delay.
func (r StudyRow) Fault() string {
	ours, delay, missing := r.Scores[len(r.Scores)-1], r.Scores[ByMinDelay], r.Scores[ByMinMissing]
	out := ""
	if ours.Missed > missing.Missed {
		out += fmt.Sprintf("missing %+.1f %% ", 100*float64(ours.Missed-missing.Missed)/float64(missing.Missed))
	}
	if ours.DelayH > delay.DelayH {
		out += fmt.Sprintf("delay %+.1f %%", 100*(ours.DelayH/delay.DelayH-1))
	}
	return strings.TrimSpace(out)
}
