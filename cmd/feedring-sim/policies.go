package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot"

	"github.com/feedring/feedring/internal/sim/experiment"
	"github.com/feedring/feedring/internal/sim/experiment/policy"
)

func policiesCommand(stdout, stderr io.Writer) *cobra.Command {
	cfg := policy.DefaultStudy()
	var captures, feed string
	cmd := experimentCommand("policies", "what schedulers miss, and how late they learn, with the same budget of looks",
		"  feedring-sim policies --plot policies.svg\n  feedring-sim policies --captures bbc_items.csv.gz --feed home_uk", stdout, stderr,
		func(seed uint64, progress experiment.Progress) (outcome, error) {
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
	cmd.PreRunE = func(*cobra.Command, []string) error { return within("--looks", cfg.Looks, 1, mostLooks) }
	cmd.Flags().IntSliceVar(&cfg.Looks, "looks", cfg.Looks, "budgets for the 1,000 synthetic feeds, in three weeks")
	cmd.Flags().StringVar(&captures, "captures", "", "`FILE` of captures of a real feed (CSV, gzip): feed, first_seen and last_seen of each entry")
	cmd.Flags().StringVar(&feed, "feed", "home_uk", "which feed of the captures")
	return cmd
}

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

func policyPicture(r policy.StudyResult) ([][]*plot.Plot, error) {
	var ps panels
	show := func(title string, rows []policy.StudyRow) {
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
	show("Even days", r.Even)
	show("Days with hours", r.Hours)
	if len(r.Captured) > 0 {
		show("The captured feed", r.Captured)
	}
	return ps.grid(2)
}
