package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/plot"

	"github.com/feedring/feedring/internal/sim/experiment"
)

// scaleResult is all parts of `scale`; a part without rows was not played.
type scaleResult struct {
	Search experiment.SearchResult `json:"search"`
	Churn  experiment.ChurnResult  `json:"churn"`
	Size   *sizeResult             `json:"size,omitempty"`
}

func scaleCommand(stdout, stderr io.Writer) *cobra.Command {
	search, churn := experiment.DefaultSearch(), experiment.DefaultChurn()
	size := experiment.DefaultSize()
	only := ""
	cmd := experimentCommand("scale", "the cost of a search against the number of groups, and what churn does",
		"  feedring-sim scale --plot scale.svg\n  feedring-sim scale --only search --groups 1,10,100\n  feedring-sim scale --only churn --half-lives 5m --length 1h\n  feedring-sim scale --peers 2000 --groups 20 --virtual 10m   # may be stopped: it tells how far it came", stdout, stderr,
		func(seed uint64, progress experiment.Progress) (outcome, error) {
			if size.Peers > 0 {
				size.Seed = seed
				return playSize(size, stderr)
			}
			search.Seed, churn.Seed = seed, seed
			search.Latencies = churn.Latencies
			var r scaleResult
			var err error
			if r.Search, err = experiment.Search(search, progress); err == nil {
				r.Churn, err = experiment.Churn(churn, progress)
			}
			return outcome{r, func(out io.Writer) { scaleTables(out, r) }, func() ([][]*plot.Plot, error) { return scalePicture(r) }, nil}, err
		})
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := within("--groups", search.Groups, 1, mostGroups); err != nil {
			return err
		}
		if err := churn.Latencies.Check(); err != nil {
			return err
		}
		if cmd.Flags().Changed("peers") {
			return checkSize(cmd.Flags(), &size, search.Groups)
		}
		if cmd.Flags().Changed("virtual") {
			return errors.New("--virtual is for one network: add --peers")
		}
		if slices.Min(churn.HalfLives) <= 0 || churn.Length <= 0 {
			return errors.New("--half-lives and --length must be above 0")
		}
		switch only {
		case "":
		case "search":
			churn.HalfLives = nil
		case "churn":
			search.Groups = nil
		default:
			return errors.New("--only: search or churn")
		}
		return nil
	}
	latencies(cmd, &churn.Latencies)
	cmd.Flags().StringVar(&only, "only", "", "one part: `search` or churn")
	cmd.Flags().IntSliceVar(&search.Groups, "groups", search.Groups, "sizes of the ring")
	cmd.Flags().DurationSliceVar(&churn.HalfLives, "half-lives", churn.HalfLives, "of the churn")
	cmd.Flags().DurationVar(&churn.Length, "length", churn.Length, "virtual time of each run under churn")
	cmd.Flags().IntVar(&size.Peers, "peers", 0, "instead of the other parts, one network of so many `peers` in --groups groups")
	cmd.Flags().DurationVar(&size.Virtual, "virtual", size.Virtual, "virtual time of that network")
	return cmd
}

// Bounds of what is played: more than a machine that people have holds.
const (
	mostGroups = 100_000
	mostPeers  = 1_000_000
)

// checkSize says what is wrong with what one network is told, and takes over
// into how many groups its peers go.
func checkSize(flags *pflag.FlagSet, size *experiment.SizeConfig, groups []int) error {
	for _, other := range []string{"only", "half-lives", "length", "plot", "latencies"} {
		if flags.Changed(other) {
			return fmt.Errorf("--peers plays one network and nothing else: leave --%s out", other)
		}
	}
	if size.Peers < 1 || size.Peers > mostPeers {
		return fmt.Errorf("--peers %d: give 1 to %d", size.Peers, mostPeers)
	}
	if !flags.Changed("groups") || len(groups) != 1 {
		return errors.New("--peers: say by --groups into how many groups they go")
	}
	size.Groups = groups[0]
	if size.Virtual <= 0 {
		return errors.New("--virtual must be above 0")
	}
	if size.Peers < size.Groups {
		return fmt.Errorf("--peers %d --groups %d: give a peer for each group at least", size.Peers, size.Groups)
	}
	return nil
}

func scaleTables(out io.Writer, r scaleResult) {
	rows := [][]string{{"N", "found: messages", "depth", "deepest", "on the wire", "absent: messages", "depth", "shortcut: messages", "depth", "paper N+n+4", "DHT messages", "rounds", "log2 N"}}
	for _, x := range r.Search.Rows {
		rows = append(rows, []string{count(x.Groups), num(x.Ring.Messages), num(x.Ring.Depth), count(x.Ring.Deepest), num(x.Ring.Wire),
			count(x.Absent.Most), count(x.Absent.Deepest), num(x.Shortcut.Messages), num(x.Shortcut.Depth),
			count(x.Paper), num(x.DHT.Messages), num(x.DHT.Rounds), num(x.Log2)})
	}
	if len(r.Search.Rows) > 0 {
		table(out, "The cost of a search", rows)
	}
	rows = [][]string{{"half-life", "crashes", "of managers", "takeover p50 s", "p99", "max", "all follow p50", "p99", "without manager", "two", "entries", "delay p50 s", "p99", "max", "catch-up p50 s", "p99", "missing"}}
	refresh := r.Churn.Config.Refresh
	for _, x := range r.Churn.Rows {
		rows = append(rows, []string{short(x.HalfLife), count(x.Crashes), count(x.OfManagers), inPeriods(x.Claim.P50, refresh), inPeriods(x.Claim.P99, refresh),
			inPeriods(x.Claim.Max, refresh), num(x.Followed.P50), num(x.Followed.P99), percent(x.Without), percent(x.Two), count(x.Entries),
			num(x.Delay.P50), num(x.Delay.P99), num(x.Delay.Max), num(x.CatchUp.P50), num(x.CatchUp.P99), count(x.Missing)})
	}
	if len(r.Churn.Rows) > 0 {
		table(out, "Churn", rows)
	}
}

func short(d time.Duration) string { return num(d.Minutes()) + " min" }

func scalePicture(r scaleResult) ([][]*plot.Plot, error) {
	type row = experiment.SearchRow
	at := func(y func(row) float64) func(row) (float64, float64) {
		return func(r row) (float64, float64) { return float64(r.Groups), y(r) }
	}
	var ps panels
	rows := r.Search.Rows
	ps.add("Messages of a search", axes{x: "groups on the ring", y: "messages", logX: true, logY: true},
		line("paper: N + n + 4", rows, at(func(r row) float64 { return float64(r.Paper) })),
		line("ring, absent", rows, at(func(r row) float64 { return r.Absent.Messages })),
		line("ring, found", rows, at(func(r row) float64 { return r.Ring.Messages })),
		line("shortcut", rows, at(func(r row) float64 { return r.Shortcut.Messages })),
		line("DHT (model)", rows, at(func(r row) float64 { return r.DHT.Messages })))
	ps.add("Depth of a search", axes{x: "groups on the ring", y: "hops", logX: true, logY: true},
		line("ring, absent", rows, at(func(r row) float64 { return r.Absent.Depth })),
		line("ring, found", rows, at(func(r row) float64 { return r.Ring.Depth })),
		line("shortcut", rows, at(func(r row) float64 { return r.Shortcut.Depth })),
		line("DHT rounds (model)", rows, at(func(r row) float64 { return r.DHT.Rounds })),
		line("log2 N", rows, at(func(r row) float64 { return r.Log2 })))
	type churn = experiment.ChurnRow
	over := func(y func(churn) float64) func(churn) (float64, float64) {
		return func(r churn) (float64, float64) { return r.HalfLife.Minutes(), y(r) }
	}
	ps.add("Takeover under churn", axes{x: "half-life, minutes", y: "seconds, r = " + r.Churn.Config.Refresh.String()},
		line("another manager, p50", r.Churn.Rows, over(func(r churn) float64 { return r.Claim.P50 })),
		line("another manager, p99", r.Churn.Rows, over(func(r churn) float64 { return r.Claim.P99 })),
		line("all follow it, p99", r.Churn.Rows, over(func(r churn) float64 { return r.Followed.P99 })))
	ps.add("Time without a manager", axes{x: "half-life, minutes", y: "% of the time"},
		line("no manager", r.Churn.Rows, over(func(r churn) float64 { return 100 * r.Without })),
		line("two managers", r.Churn.Rows, over(func(r churn) float64 { return 100 * r.Two })))
	return ps.grid(2)
}
