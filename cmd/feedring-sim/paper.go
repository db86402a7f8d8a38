package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot"

	"github.com/feedring/feedring/internal/sim/experiment"
)

func paperCommand(stdout, stderr io.Writer) *cobra.Command {
	cfg := experiment.DefaultStudy()
	short := false
	cmd := experimentCommand("paper", "the paper's figures 3 and 4, and how much they hang on what it does not say",
		"  feedring-sim paper --plot paper.svg\n  feedring-sim paper --short --capacity 20", stdout, stderr,
		func(seed uint64, progress experiment.Progress) (outcome, error) {
			cfg.Figure3.Seed, cfg.Figure4.Seed = seed, seed
			cfg.Figure4.Latencies = cfg.Figure3.Latencies
			if short {
				cfg.Figure4 = experiment.PaperConfig{}
				cfg.Rates, cfg.Capacities, cfg.Groups, cfg.Cycles, cfg.Exponents = nil, nil, nil, nil, nil
			}
			r, err := experiment.Study(cfg, progress)
			return outcome{r, func(out io.Writer) { paperTables(out, r) }, func() ([][]*plot.Plot, error) { return paperPicture(r) }, nil}, err
		})
	cmd.PreRunE = func(*cobra.Command, []string) error { return cfg.Figure3.Check() }
	latencies(cmd, &cfg.Figure3.Latencies)
	cmd.Flags().BoolVar(&short, "short", false, "figure 3 only, as it is")
	cmd.Flags().IntVar(&cfg.Figure3.Capacity, "capacity", cfg.Figure3.Capacity, "requests that a server answers in a cycle, in figure 3")
	cmd.Flags().IntVar(&cfg.Figure3.Groups, "groups", cfg.Figure3.Groups, "groups, in figure 3")
	cmd.Flags().DurationVar(&cfg.Figure3.Cycle, "cycle", cfg.Figure3.Cycle, "length of a cycle, in figure 3")
	return cmd
}

func paperTables(out io.Writer, r experiment.StudyResult) {
	rows := [][]string{{"", "requests", "answered", "pending", "p50 s", "p99 s", "busiest server", "messages a lookup"}}
	add := func(name string, run experiment.RequestsRun, lookup string) {
		rows = append(rows, []string{name, count(run.Requests), percent(run.Answered), count(run.Pending[len(run.Pending)-1]),
			num(run.Seconds.P50), num(run.Seconds.P99), percent(run.Busiest), lookup})
	}
	add("figure 3, ours", r.Figure3.Ours, num(r.Figure3.Lookup.Messages))
	add("figure 3, central", r.Figure3.Central, "")
	if len(r.Figure4.Ours.Pending) > 0 {
		add("figure 4, ours", r.Figure4.Ours, num(r.Figure4.Lookup.Messages))
		add("figure 4, central", r.Figure4.Central, "")
	}
	table(out, "The paper's figures", rows)
	studyTable(out, "On to where it breaks", r.Rates, func(row experiment.StudyRow) string {
		return fmt.Sprintf("%d each, capacity %d", row.Each, row.Capacity)
	})
	studyTable(out, "Figure 3 with one thing changed", r.Sensitivity, func(row experiment.StudyRow) string { return row.Changed })
}

func studyTable(out io.Writer, title string, of []experiment.StudyRow, name func(experiment.StudyRow) string) {
	if len(of) == 0 {
		return
	}
	rows := [][]string{{"", "capacity used", "by the hottest theme", "ours answered", "pending", "p50 s", "central answered", "pending", "p50 s"}}
	for _, r := range of {
		rows = append(rows, []string{name(r), percent(r.Used), percent(r.Hottest), percent(r.Ours.Answered), count(r.Ours.Pending), num(r.Ours.P50),
			percent(r.Central.Answered), count(r.Central.Pending), num(r.Central.P50)})
	}
	table(out, title, rows)
}

// paperPicture draws what was played: --short leaves most of it out.
func paperPicture(r experiment.StudyResult) ([][]*plot.Plot, error) {
	var ps panels
	pending := func(title string, of experiment.PaperResult) {
		ps.add(title, axes{x: "cycle", y: "pending requests"},
			pendingLine("central polling (model)", of.Central), pendingLine("ours (machines)", of.Ours))
	}
	pending("Figure 3: 4 requests each a cycle", r.Figure3)
	if len(r.Figure4.Ours.Pending) > 0 {
		pending("Figure 4: 40 requests each a cycle", r.Figure4)
	}
	if len(r.Rates) > 0 {
		ps.add("Where it breaks", axes{x: "requests of a client in a cycle", y: "answered after 5 cycles, %", yMin: 0, yMax: 145}, rateLines(r)...)
	}
	if len(r.Config.Capacities) > 0 {
		ps.add("Figure 3 with another capacity", axes{x: "requests that a server answers in a cycle", y: "answered after 30 cycles, %", logX: true, yMin: 0, yMax: 130},
			capacityLine(r, "central", func(r experiment.StudyRow) float64 { return r.Central.Answered }),
			capacityLine(r, "ours", func(r experiment.StudyRow) float64 { return r.Ours.Answered }))
	}
	return ps.grid(min(2, len(ps.all)))
}

func pendingLine(name string, run experiment.RequestsRun) series {
	s := series{name: name}
	for i, n := range run.Pending {
		s.x, s.y = append(s.x, float64(i+1)), append(s.y, float64(n))
	}
	return s
}

func rateLines(r experiment.StudyResult) []series {
	var lines []series
	for _, capacity := range []int{r.Config.Figure3.Capacity, r.Config.Figure4.Capacity} {
		var of []experiment.StudyRow
		for _, row := range r.Rates {
			if row.Capacity == capacity {
				of = append(of, row)
			}
		}
		lines = append(lines,
			line(fmt.Sprintf("central, capacity %d", capacity), of, func(r experiment.StudyRow) (x, y float64) { return float64(r.Each), 100 * r.Central.Answered }),
			line(fmt.Sprintf("ours, capacity %d", capacity), of, func(r experiment.StudyRow) (x, y float64) { return float64(r.Each), 100 * r.Ours.Answered }))
	}
	return lines
}

func capacityLine(r experiment.StudyResult, name string, answered func(experiment.StudyRow) float64) series {
	of := r.Sensitivity[:min(len(r.Sensitivity), len(r.Config.Capacities))]
	return line(name, of, func(r experiment.StudyRow) (x, y float64) { return float64(r.Capacity), 100 * answered(r) })
}

// inPeriods shows seconds and refresh periods.
func inPeriods(s float64, refresh time.Duration) string {
	return fmt.Sprintf("%s (%.2f r)", num(s), s/refresh.Seconds())
}
