package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot"

	"github.com/feedring/feedring/internal/sim/experiment"
	"github.com/feedring/feedring/internal/sim/experiment/promise"
)

var promisesParts = []string{"notifies", "split", "starved", "queries"}

func promisesCommand(stdout, stderr io.Writer) *cobra.Command {
	short, only := false, promisesParts
	refreshes, queries := 0, 0
	var cfg promise.Config
	cmd := experimentCommand("promises", "what the protocol promises in figures, played",
		"  feedring-sim promises --plot promises.svg\n  feedring-sim promises --only starved,queries --short", stdout, stderr,
		func(seed uint64, progress experiment.Progress) (outcome, error) {
			cfg.Notifies.Seed, cfg.Split.Seed, cfg.Starved.Seed, cfg.Queries.Seed = seed, seed, seed, seed
			r, err := playPromises(cfg, only, progress)
			return outcome{r, func(out io.Writer) { promisesTables(out, r) }, func() ([][]*plot.Plot, error) { return promisesPicture(r) }, brokenPromises(r)}, err
		})
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if len(only) == 0 {
			return errors.New("--only: choose among " + strings.Join(promisesParts, ", "))
		}
		for _, part := range only {
			if !slices.Contains(promisesParts, part) {
				return errors.New("--only: choose among " + strings.Join(promisesParts, ", "))
			}
		}
		if cfg = promise.Default(); short {
			cfg = promise.Short()
		}
		cfg.Starved.Refreshes = cmp.Or(refreshes, cfg.Starved.Refreshes)
		cfg.Queries.Queries = cmp.Or(queries, cfg.Queries.Queries)
		if cfg.Starved.Refreshes < cfg.Starved.Groups {
			return fmt.Errorf("--refreshes %d: give %d or more, one for each group", refreshes, cfg.Starved.Groups)
		}
		if cfg.Queries.Queries < 1 {
			return fmt.Errorf("--queries %d: give 1 or more", queries)
		}
		return nil
	}
	cmd.Flags().StringSliceVar(&only, "only", only, "some `parts`")
	cmd.Flags().BoolVar(&short, "short", false, "a small part of each, in seconds")
	cmd.Flags().IntVar(&refreshes, "refreshes", 0, "of managers to members on starved nodes; 0: a million")
	cmd.Flags().IntVar(&queries, "queries", 0, "under churn; 0: a million")
	return cmd
}

func playPromises(cfg promise.Config, only []string, progress experiment.Progress) (r promise.Result, err error) {
	r.Config = cfg
	if slices.Contains(only, "notifies") {
		if r.Notifies, err = promise.Notifies(cfg.Notifies, progress); err != nil {
			return r, err
		}
	}
	if slices.Contains(only, "split") {
		if r.Split, err = promise.Split(cfg.Split, progress); err != nil {
			return r, err
		}
	}
	if slices.Contains(only, "starved") {
		played, err := promise.Starved(cfg.Starved, progress)
		if r.Starved = &played; err != nil {
			return r, err
		}
	}
	if slices.Contains(only, "queries") {
		played, err := promise.Queries(cfg.Queries, progress)
		if r.Queries = &played; err != nil {
			return r, err
		}
	}
	return r, nil
}

// brokenPromises names the promises that do not hold; nil: all do.
func brokenPromises(r promise.Result) error {
	var all []string
	for _, x := range r.Notifies {
		if !x.Kept() {
			all = append(all, fmt.Sprintf("with %.0f %% of %d notifies dropped among %d peers an entry took %.2f periods, half of them %.2f, or never came",
				100*x.Dropped, x.Notifies, x.Peers, x.Complete.Max, x.Complete.P50))
		}
	}
	for _, x := range r.Split {
		if !x.Kept() {
			all = append(all, fmt.Sprintf("in groups of %d two managers lasted for %.2f periods after a cut, or for ever", x.Peers, x.Both.Max))
		}
	}
	if r.Starved != nil && !r.Starved.Kept() {
		all = append(all, fmt.Sprintf("%d managers were deposed that lived", r.Starved.False))
	}
	if r.Queries != nil && !r.Queries.Kept() {
		all = append(all, fmt.Sprintf("of %d queries %d have one final, %d finals are surplus, %d wrong; %d were answered, %d are incomplete, of %.0f at most",
			r.Queries.Queries, r.Queries.Once, r.Queries.More, r.Queries.Wrong, r.Queries.Answered, r.Queries.Incomplete, r.Queries.Few()*float64(r.Queries.Queries)))
	}
	if len(all) == 0 {
		return nil
	}
	return errors.New(strings.Join(all, "; "))
}

func promisesTables(out io.Writer, r promise.Result) {
	rows := [][]string{{"peers", "dropped", "entries", "notifies", "of them lost", "all have it after p50 r", "p99 r", "max r", "never"}}
	for _, x := range r.Notifies {
		rows = append(rows, []string{count(x.Peers), percent(x.Dropped), count(x.Entries), count(x.Notifies), count(x.Lost),
			num(x.Complete.P50), num(x.Complete.P99), num(x.Complete.Max), count(x.Lacking)})
	}
	if len(r.Notifies) > 0 {
		table(out, "Entries, notifies dropped", rows)
	}
	rows = [][]string{{"peers", "joined one side", "cut groups", "two managers", "lasted p50 r", "p99 r", "max r", "two only later", "two after 8 r", "none"}}
	for _, x := range r.Split {
		rows = append(rows, []string{count(x.Peers), count(x.Joins), count(x.Cuts), count(x.Managed), num(x.Both.P50), num(x.Both.P99), num(x.Both.Max),
			count(x.Later), count(x.Open), count(x.None)})
	}
	if len(r.Split) > 0 {
		table(out, "Two managers after a cut healed", rows)
	}
	if s := r.Starved; s != nil {
		table(out, "Starved nodes and loss", [][]string{
			{"", "refreshes", "messages", "lost", "silences of a period", "false depositions", "secondaries given up"},
			{"ours", count(s.Refreshes), count(s.Messages), count(s.Lost), count(s.Intentions), count(s.False), ""},
			{"the paper, with objections", count(s.Refreshes), "", "", count(s.Paper.Silences), count(s.Paper.Deposed), count(s.Paper.GivenUp)},
			{"the paper, by silence alone", count(s.Refreshes), "", "", count(s.Paper.Silences), count(s.Paper.Silences), ""},
			{"… a refresh a period, with objections", count(s.Refreshes / 3), "", "", count(s.Sparse.Silences), count(s.Sparse.Deposed), count(s.Sparse.GivenUp)},
			{"… a refresh a period, by silence alone", count(s.Refreshes / 3), "", "", count(s.Sparse.Silences), count(s.Sparse.Silences), ""},
		})
	}
	if q := r.Queries; q != nil {
		table(out, "Queries under churn", [][]string{
			{"queries", "one final", "finals a query", "surplus", "none", "asked again", "answered", "incomplete", "unsatisfied", "wrong", "p50 s", "p99 s", "max s", "crashes", "departures"},
			{count(q.Queries), count(q.Once), fmt.Sprintf("%.6f", q.Shares), count(q.More), count(q.Without), count(q.Again), count(q.Answered), count(q.Incomplete),
				count(q.Unsatisfied), count(q.Wrong), num(q.Seconds.P50), num(q.Seconds.P99), num(q.Seconds.Max), count(q.Crashes), count(q.Departures)},
		})
		for _, x := range q.Examples {
			_, _ = fmt.Fprintln(out, x)
		}
	}
}

func promisesPicture(r promise.Result) ([][]*plot.Plot, error) {
	var ps panels
	for _, peers := range r.Config.Notifies.Peers {
		rows := slices.DeleteFunc(slices.Clone(r.Notifies), func(x promise.NotifiesRow) bool { return x.Peers != peers })
		at := func(y func(promise.NotifiesRow) float64) func(promise.NotifiesRow) (float64, float64) {
			return func(x promise.NotifiesRow) (float64, float64) { return 100 * x.Dropped, y(x) }
		}
		ps.add(fmt.Sprintf("All %d peers have an entry", peers), axes{x: "% of the notifies dropped", y: "refresh periods"},
			line("longest", rows, at(func(x promise.NotifiesRow) float64 { return x.Complete.Max })),
			line("p99", rows, at(func(x promise.NotifiesRow) float64 { return x.Complete.P99 })),
			line("p50", rows, at(func(x promise.NotifiesRow) float64 { return x.Complete.P50 })))
	}
	known := slices.DeleteFunc(slices.Clone(r.Split), func(x promise.SplitRow) bool { return x.Joins > 0 })
	at := func(y func(promise.SplitRow) float64) func(promise.SplitRow) (float64, float64) {
		return func(x promise.SplitRow) (float64, float64) { return float64(x.Peers), y(x) }
	}
	ps.add("Two managers after a cut healed", axes{x: "peers of the group", y: "refresh periods", logX: true},
		line("longest", known, at(func(x promise.SplitRow) float64 { return x.Both.Max })),
		line("p99", known, at(func(x promise.SplitRow) float64 { return x.Both.P99 })),
		line("p50", known, at(func(x promise.SplitRow) float64 { return x.Both.P50 })))
	return ps.grid(3)
}
