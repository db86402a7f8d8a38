package main

import (
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot"

	"github.com/feedring/feedring/internal/sim/experiment"
	"github.com/feedring/feedring/internal/sim/experiment/policy"
)

// The traces of --trace.
const (
	traceSynthetic = "synthetic"
	tracePaper     = "paper"
)

// readersZipf is the one --readers.
const readersZipf = "zipf"

func policiesCommand(stdout, stderr io.Writer) *cobra.Command {
	cfg := policy.DefaultStudy()
	published := policy.PaperConfig{Workload: policy.Fitted, Looks: policy.PaperLooks()}
	var captures, feed, trace, readers string
	cmd := experimentCommand("policies", "what schedulers miss, and how late they learn, with the same budget of looks",
		"  feedring-sim policies --plot policies.svg\n  feedring-sim policies --captures bbc_items.csv.gz --feed home_uk\n  feedring-sim policies --trace paper --seed 0 --seeds 4\n  feedring-sim policies --readers zipf --looks 1000,3000,7000,20000", stdout, stderr,
		func(seed uint64, progress experiment.Progress) (outcome, error) {
			if readers == readersZipf {
				r := policy.Readers(seed, cfg.Looks, progress)
				return outcome{r, func(out io.Writer) { readersTable(out, r) }, func() ([][]*plot.Plot, error) { return readersPicture(r) }, nil}, nil
			}
			if trace == tracePaper {
				published.Seed = seed
				r := policy.Paper(published, progress)
				return outcome{r, func(out io.Writer) { publishedTables(out, r) }, func() ([][]*plot.Plot, error) { return publishedPicture(r) }, nil}, nil
			}
			cfg.Seed = seed
			if captures != "" {
				var err error
				if cfg.Captured, err = readCaptures(captures, feed); err != nil {
					return outcome{}, err
				}
			}
			r := policy.Study(cfg, progress)
			return outcome{r, func(out io.Writer) { policyTables(out, r) }, func() ([][]*plot.Plot, error) { return policyPicture(r) }, nil}, nil
		})
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case trace != traceSynthetic && trace != tracePaper:
			return fmt.Errorf("--trace %q: give %s or %s", trace, traceSynthetic, tracePaper)
		case readers != "" && readers != readersZipf:
			return fmt.Errorf("--readers %q: give %s", readers, readersZipf)
		case readers != "" && (trace != traceSynthetic || captures != ""):
			return errors.New("--readers is played with the synthetic feeds only")
		case trace == tracePaper && captures != "":
			return errors.New("--captures is played with --trace synthetic only")
		case trace != tracePaper && cmd.Flags().Changed("seeds"):
			return errors.New("--seeds needs --trace paper")
		}
		if cmd.Flags().Changed("looks") {
			published.Looks = cfg.Looks
		}
		return cmp.Or(within("--looks", cfg.Looks, 1, mostLooks), within("--seeds", []int{published.Seeds}, 1, mostSeeds))
	}
	cmd.Flags().IntSliceVar(&cfg.Looks, "looks", cfg.Looks, "budgets for the 1,000 feeds, in three weeks; with --trace paper 1,000 to 20,000 by thousands")
	cmd.Flags().StringVar(&trace, "trace", traceSynthetic, "feeds: synthetic, by what the minimum-missing paper publishes of its own, or paper, changing and in batches so that its rules come off as it prints")
	cmd.Flags().StringVar(&readers, "readers", "", "how many read each feed: zipf, by Zipf's law; minimum delay and expected loss are played with and without weights by that")
	cmd.Flags().IntVar(&published.Seeds, "seeds", 1, "how many seeds of --trace paper, from --seed on")
	cmd.Flags().StringVar(&captures, "captures", "", "`FILE` of captures of a real feed (CSV, gzip): feed, first_seen and last_seen of each entry")
	cmd.Flags().StringVar(&feed, "feed", "home_uk", "which feed of the captures")
	return cmd
}

// mostSeeds bounds --seeds: half a minute each.
const mostSeeds = 1000

// mostLooks is two an hour at each synthetic feed, in three weeks.
const mostLooks = 1_000_000

// captureLag is about how far captures are apart: an entry was gone so long
// after the last that saw it.
const captureLag = 20 * time.Minute

func readCaptures(file, feed string) (*policy.Trace, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("--captures: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("--captures %s: %w", file, err)
	}
	t, err := policy.Captured(z, feed, captureLag)
	if err != nil {
		return nil, fmt.Errorf("--captures %s: %w", file, err)
	}
	return t, nil
}

func policyTables(out io.Writer, r policy.StudyResult) {
	show := func(title string, rows []policy.StudyRow) {
		if len(rows) == 0 {
			return
		}
		missed := [][]string{{"looks"}}
		for _, s := range rows[0].Scores {
			missed[0] = append(missed[0], s.Policy)
		}
		delay := [][]string{append([]string{}, missed[0]...)}
		missed[0] = append(missed[0], "ours beside the best of each")
		for _, row := range rows {
			m, d := []string{count(row.Looks)}, []string{count(row.Looks)}
			for _, s := range row.Scores {
				m = append(m, fmt.Sprintf("%.2f %%", 100*s.MissedShare()))
				d = append(d, fmt.Sprintf("%.2f", s.DelayH))
			}
			fault := row.Fault()
			if fault == "" {
				fault = "no more of either"
			}
			missed, delay = append(missed, append(m, fault)), append(delay, d)
		}
		table(out, title+": missed", missed)
		table(out, title+": mean delay in hours", delay)
	}
	show("1,000 feeds, even days", r.Even)
	show("1,000 feeds, days with hours", r.Hours)
	show("The captured feed", r.Captured)
}

// readersTable puts each rule with weights beside the same without.
func readersTable(out io.Writer, r policy.ReadersResult) {
	rows := [][]string{{"looks", "rule", "delay by readers, h", "with weights", "change", "missed", "with weights", "change", "missed by readers", "with weights"}}
	for _, row := range r.Rows {
		for _, p := range row.Scores {
			rows = append(rows, []string{
				count(row.Looks), p.Equal.Policy,
				fmt.Sprintf("%.2f", p.Equal.ReadDelayH), fmt.Sprintf("%.2f", p.Weighs.ReadDelayH), fmt.Sprintf("%+.1f %%", 100*p.Delay()),
				fmt.Sprintf("%.2f %%", 100*p.Equal.MissedShare()), fmt.Sprintf("%.2f %%", 100*p.Weighs.MissedShare()), fmt.Sprintf("%+.1f %%", 100*p.Missed()),
				fmt.Sprintf("%.2f %%", 100*p.Equal.MissedRead), fmt.Sprintf("%.2f %%", 100*p.Weighs.MissedRead),
			})
		}
	}
	table(out, "1,000 feeds, days with hours, readers by Zipf's law", rows)
}

// readersPicture draws the delay and what is missed of each rule, with weights and without.
func readersPicture(r policy.ReadersResult) ([][]*plot.Plot, error) {
	var missed, delay []series
	for i, p := range r.Rows[0].Scores {
		for _, weighs := range []bool{false, true} {
			name, of := p.Equal.Policy, func(row policy.ReadersRow) policy.Score { return row.Scores[i].Equal }
			if weighs {
				name, of = name+", weights", func(row policy.ReadersRow) policy.Score { return row.Scores[i].Weighs }
			}
			missed = append(missed, line(name, r.Rows, func(row policy.ReadersRow) (x, y float64) { return float64(row.Looks), 100 * of(row).MissedShare() }))
			delay = append(delay, line(name, r.Rows, func(row policy.ReadersRow) (x, y float64) { return float64(row.Looks), of(row).ReadDelayH }))
		}
	}
	var ps panels
	ps.add("Missing entries", axes{x: "looks", y: "%", logX: true}, missed...)
	ps.add("Delay, by readers", axes{x: "looks", y: "hours", logX: true, logY: true}, delay...)
	return ps.grid(2)
}

func policyPicture(r policy.StudyResult) ([][]*plot.Plot, error) {
	var ps panels
	policyPanels(&ps, "Even days", r.Even)
	policyPanels(&ps, "Days with hours", r.Hours)
	if len(r.Captured) > 0 {
		policyPanels(&ps, "The captured feed", r.Captured)
	}
	return ps.grid(2)
}

// policyPanels adds what was missed, and how late the rest was learned.
func policyPanels(ps *panels, title string, rows []policy.StudyRow) {
	var missed, delay []series
	for i, s := range rows[0].Scores {
		missed = append(missed, line(s.Policy, rows, func(r policy.StudyRow) (x, y float64) {
			return float64(r.Looks), 100 * r.Scores[i].MissedShare()
		}))
		delay = append(delay, line(s.Policy, rows, func(r policy.StudyRow) (x, y float64) {
			return float64(r.Looks), r.Scores[i].DelayH
		}))
	}
	ps.add(title+": missing entries", axes{x: "looks", y: "%", logX: true}, missed...)
	ps.add(title+": delay", axes{x: "looks", y: "hours", logX: true, logY: true}, delay...)
}

func publishedTables(out io.Writer, r policy.PaperResult) {
	shown := func(c policy.Comparison, v float64) string {
		switch c.Unit {
		case policy.UnitShare:
			return percent(v)
		case policy.UnitRatio:
			return fmt.Sprintf("%.2f", v)
		}
		return fmt.Sprintf("%.0f", v)
	}
	rows := [][]string{{"means over budgets and seeds", "paper", "ours", "accepted"}}
	for _, c := range r.Printed {
		row := []string{c.What, shown(c, c.Paper), shown(c, c.Ours), "not asked"}
		switch {
		case c.Within > 0 && c.Holds():
			row[3] = "yes"
		case c.Within > 0:
			row[3] = "no"
		}
		rows = append(rows, row)
	}
	rows = append(rows, []string{"missing postings, expected loss", "", percent(r.Expected.Missed), "not asked"})
	table(out, "The minimum-missing paper's feeds, as far as they are published", rows)

	rows = [][]string{{"seed", "looks"}}
	for _, s := range r.Rows[0].Scores {
		rows[0] = append(rows[0], s.Policy)
	}
	rows[0] = append(rows[0], "expected loss beside the best of each")
	for _, row := range r.Rows {
		cells := []string{fmt.Sprint(row.Seed), count(row.Looks)}
		for _, s := range row.Scores {
			cells = append(cells, fmt.Sprintf("%.2f %% / %.2f h", 100*s.MissedShare(), s.DelayH))
		}
		rows = append(rows, append(cells, cmp.Or(row.Fault, "no more of either")))
	}
	table(out, "Missed / mean delay", rows)
	_, _ = fmt.Fprintf(out, "No more of either at %d of %d.\n", r.Met, len(r.Rows))
}

// publishedPicture draws the first seed.
func publishedPicture(r policy.PaperResult) ([][]*plot.Plot, error) {
	var rows []policy.StudyRow
	for _, row := range r.Rows {
		if row.Seed == r.Config.Seed {
			rows = append(rows, row.StudyRow)
		}
	}
	var ps panels
	policyPanels(&ps, "The paper's feeds", rows)
	return ps.grid(2)
}
