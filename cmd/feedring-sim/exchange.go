package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot"

	"github.com/feedring/feedring/internal/sim/experiment"
	"github.com/feedring/feedring/internal/sim/experiment/exchange"
)

func exchangeCommand(stdout, stderr io.Writer) *cobra.Command {
	cfg := exchange.Default()
	cmd := experimentCommand("exchange", "FeedEx's experiment: readers alone, FeedEx, and ours: one looks for all, as often as all did, and once an hour",
		"  feedring-sim exchange --plot exchange.svg\n  feedring-sim exchange --interval 16h --long 2d", stdout, stderr,
		func(seed uint64, progress experiment.Progress) (outcome, error) {
			cfg.Seed = seed
			r, err := exchange.Study(cfg, progress)
			return outcome{r, func(out io.Writer) { exchangeTables(out, r) }, func() ([][]*plot.Plot, error) { return exchangePicture(r) }, nil}, err
		})
	cmd.PreRunE = func(*cobra.Command, []string) error { return cfg.Check() }
	latencies(cmd, &cfg.Latencies)
	cmd.Flags().IntVar(&cfg.Nodes, "nodes", cfg.Nodes, "nodes")
	cmd.Flags().IntVar(&cfg.Feeds, "feeds", cfg.Feeds, "feeds that publish five entries a day or more")
	cmd.Flags().IntVar(&cfg.Each, "each", cfg.Each, "feeds that a node subscribes to")
	cmd.Flags().DurationSliceVar(&cfg.Intervals, "interval", cfg.Intervals, "fetching intervals")
	cmd.Flags().DurationVar(&cfg.Short, "short", cfg.Short, "the run as the paper's, which begins with nothing and ends in the middle")
	cmd.Flags().DurationVar(&cfg.Long, "long", cfg.Long, "what counts of the run that begins before and ends after")
	cmd.Flags().IntVar(&cfg.Riders, "riders", cfg.Riders, "nodes that forward nothing, in a run of their own")
	return cmd
}

// exchangePublished is what the paper gives in figures or text: the rest of its
// plots cannot be read off to a digit.
var exchangePublished = map[time.Duration]string{16 * time.Hour: "FeedEx 22 min, 10 % missed; alone 5.7 h, 64 %"}

// exchangeBundles is its table 3.
var exchangeBundles = []float64{2.67, 2.63, 2.83, 2.87, 3.29, 3.65}

func exchangeTables(out io.Writer, r exchange.Result) {
	for _, run := range []struct {
		title string
		rows  []exchange.Row
	}{{"As the paper's run, " + r.Config.Short.String(), r.Short}, {"Entries of " + r.Config.Long.String() + ", seen until all is settled", r.Long}} {
		lag := [][]string{{"interval", "alone", "FeedEx", "ours", "ours, once an hour", "missed: alone", "FeedEx", "ours", "hourly", "published"}}
		calls := [][]string{{"interval", "FeedEx: check_did", "put_entries", "entries of a put", "published", "check for each new bundle", "ours: notify", "polls", "entries", "notify for each new bundle"}}
		for i, row := range run.rows {
			lag = append(lag, lagRow(row))
			f, o := row.FeedEx, row.Ours
			bundles := ""
			if i < len(exchangeBundles) && len(run.rows) == len(exchangeBundles) {
				bundles = num(exchangeBundles[i])
			}
			calls = append(calls, []string{row.Every.String(), num(f.Checks), num(f.Puts), num(f.Bundle), bundles, num(f.Ratio()),
				num(o.Checks), num(o.Puts), num(o.Bundle), num(o.Ratio())})
		}
		table(out, run.title+": mean lag in minutes", lag)
		table(out, run.title+": calls that a node receives a minute", calls)
	}
	table(out, fmt.Sprintf("As the paper's run, with %d machines of %d whose looks fail", r.Config.Failing, r.Config.Nodes), [][]string{
		{"interval", "alone", "FeedEx", "ours", "ours, once an hour", "missed: alone", "FeedEx", "ours", "hourly", "published"}, lagRow(r.Failing)})
	riders := [][]string{{"system", "D", "lag of riders", "of others", "after the first, s: riders", "others", "missed by riders", "by others"}}
	for _, row := range r.Riders {
		d := "none"
		if row.Bound > 0 {
			d = num(row.Bound)
		}
		if row.Kept {
			row.Riding.System += ", turns in vain kept"
		}
		riders = append(riders, []string{row.Riding.System, d, num(row.Riding.Lag.Mean), num(row.Others.Lag.Mean), num(row.Riding.Spread.Mean),
			num(row.Others.Spread.Mean), percent(row.Riding.Missed.Mean), percent(row.Others.Missed.Mean)})
	}
	defer table(out, fmt.Sprintf("The only mirror of each feed is killed, %s", r.Config.ByRiders), killedRows(r.Killed))
	table(out, fmt.Sprintf("%d free riders of %d nodes, %s: minutes", r.Config.Riders, r.Config.Nodes, r.Config.ByRiders), riders)
}

func killedRows(all []exchange.Killed) [][]string {
	rows := [][]string{{"system", "looks at a feed, an hour", "lag, min", "missed"}}
	for _, k := range all {
		name := k.Score.System
		if k.Carried {
			name += ", volunteers"
		}
		rows = append(rows, []string{name, num(k.Score.Looks), num(k.Score.Lag.Mean), percent(k.Score.Missed.Mean)})
	}
	return rows
}

func lagRow(row exchange.Row) []string {
	cells := []string{row.Every.String()}
	for _, s := range []exchange.Score{row.Alone, row.FeedEx, row.Ours, row.Hourly} {
		cells = append(cells, num(s.Lag.Mean))
	}
	for _, s := range []exchange.Score{row.Alone, row.FeedEx, row.Ours, row.Hourly} {
		cells = append(cells, fmt.Sprintf("%.2f %%", 100*s.Missed.Mean))
	}
	return append(cells, exchangePublished[row.Every])
}

func exchangePicture(r exchange.Result) ([][]*plot.Plot, error) {
	var ps panels
	hours := func(of func(exchange.Row) float64) func(exchange.Row) (x, y float64) {
		return func(row exchange.Row) (x, y float64) { return row.Every.Hours(), of(row) }
	}
	for _, run := range []struct {
		title string
		rows  []exchange.Row
	}{{r.Config.Short.String(), r.Short}, {r.Config.Long.String(), r.Long}} {
		ps.add("Figure 4, "+run.title+": mean lag", axes{x: "interval (hours)", y: "minutes", logX: true, logY: true},
			line("alone", run.rows, hours(func(r exchange.Row) float64 { return r.Alone.Lag.Mean })),
			line("FeedEx", run.rows, hours(func(r exchange.Row) float64 { return r.FeedEx.Lag.Mean })),
			line("ours", run.rows, hours(func(r exchange.Row) float64 { return r.Ours.Lag.Mean })),
			line("ours, once an hour", run.rows, hours(func(r exchange.Row) float64 { return r.Hourly.Lag.Mean })))
		ps.add("Figure 5, "+run.title+": missing entries", axes{x: "interval (hours)", y: "%", logX: true},
			line("alone", run.rows, hours(func(r exchange.Row) float64 { return 100 * r.Alone.Missed.Mean })),
			line("FeedEx", run.rows, hours(func(r exchange.Row) float64 { return 100 * r.FeedEx.Missed.Mean })),
			line("ours", run.rows, hours(func(r exchange.Row) float64 { return 100 * r.Ours.Missed.Mean })),
			line("ours, once an hour", run.rows, hours(func(r exchange.Row) float64 { return 100 * r.Hourly.Missed.Mean })))
		ps.add("Figure 6, "+run.title+": calls a minute", axes{x: "interval (hours)", y: "received by a node", logX: true},
			line("FeedEx check_did", run.rows, hours(func(r exchange.Row) float64 { return r.FeedEx.Checks })),
			line("FeedEx put_entries", run.rows, hours(func(r exchange.Row) float64 { return r.FeedEx.Puts })),
			line("our notify", run.rows, hours(func(r exchange.Row) float64 { return r.Ours.Checks })),
			line("our poll", run.rows, hours(func(r exchange.Row) float64 { return r.Ours.Puts })))
	}
	return ps.grid(3)
}
