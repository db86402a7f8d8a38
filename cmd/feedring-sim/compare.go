package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot"

	"github.com/feedring/feedring/internal/sim/experiment"
)

func compareCommand(stdout, stderr io.Writer) *cobra.Command {
	cfg := experiment.DefaultCompare()
	cmd := experimentCommand("compare", "load on a site and on a publisher's peer, beside polling, FeedEx and a Scribe tree",
		"  feedring-sim compare --plot compare.svg\n  feedring-sim compare --measured 20", stdout, stderr,
		func(seed uint64, progress experiment.Progress) (outcome, error) {
			cfg.Seed = seed
			r, err := experiment.Compare(cfg, progress)
			return outcome{r, func(out io.Writer) { compareTables(out, r) }, func() ([][]*plot.Plot, error) { return comparePicture(r) }, nil}, err
		})
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if cfg.Measured < 2 {
			return fmt.Errorf("--measured %d: give 2 or more, as many as a group has", cfg.Measured)
		}
		return cmp.Or(within("--attached", cfg.Attached, 1, mostReaders), cfg.Latencies.Check())
	}
	latencies(cmd, &cfg.Latencies)
	cmd.Flags().IntVar(&cfg.Measured, "measured", cfg.Measured, "the largest group that runs on the machines; the model says the rest")
	cmd.Flags().IntSliceVar(&cfg.Attached, "attached", cfg.Attached, "readers that attach on the machines")
	return cmd
}

// mostReaders bounds what is played of them on the machines.
const mostReaders = 1_000_000

func compareTables(out io.Writer, r experiment.CompareResult) {
	rows := [][]string{{"peers", "notifies", "polls answered", "busiest other", "all", "model: publisher", "all", "last has it after s"}}
	for _, g := range r.Groups {
		model := experiment.Ours(r.Config, g.Peers, 0)
		rows = append(rows, []string{count(g.Peers), num(g.Notifies), num(g.Polls), num(g.Busiest), num(g.All), num(model.Publisher), num(model.All), num(g.LastAfter.P50)})
	}
	table(out, "One entry in a group, measured", rows)
	rows = [][]string{{"peers", "base paper: polls", "polls answered", "least by a peer", "most", "notifies", "last has all after s"}}
	for _, a := range r.AtOnce {
		rows = append(rows, []string{count(a.Peers), count(a.Peers * (a.Peers - 1)), count(a.Polls), count(a.Least), count(a.Most), count(a.Notifies), num(a.LastHas)})
	}
	table(out, "All peers of a group publish at once, measured", rows)
	rows = [][]string{{"readers", "peers", "served", "mean a peer", "most", "publisher", "busiest peer: messages a reader"}}
	for _, a := range r.Attached {
		rows = append(rows, []string{count(a.Readers), count(a.Peers), count(a.Served), num(a.Mean), count(a.Most), count(a.Publisher), num(a.Manager)})
	}
	table(out, "Readers that attach, measured", rows)
	rows = [][]string{{"readers", "", "requests at the site/h", "publisher sends", "busiest sends", "all send", "lag s"}}
	for _, x := range r.Rows {
		add := func(name string, l experiment.SystemLoad) {
			rows = append(rows, []string{count(x.Readers), name, num(l.Origin), num(l.Publisher), num(l.Busiest), num(l.All), num(l.Lag)})
		}
		add("polling", x.Polling)
		add("FeedEx", x.FeedEx)
		add("Scribe tree", x.Scribe)
		for _, o := range x.Ours {
			if shown(o.Peers) {
				add(fmt.Sprintf("ours, %d peers", o.Peers), o.Load)
			}
		}
	}
	table(out, "For each entry: models", rows)
}

// shown chooses the sizes of our groups that the comparison shows.
func shown(peers int) bool { return peers == 10 || peers == 100 || peers == 1000 }

func comparePicture(r experiment.CompareResult) ([][]*plot.Plot, error) {
	type row = experiment.CompareRow
	at := func(y func(row) float64) func(row) (float64, float64) {
		return func(r row) (float64, float64) { return float64(r.Readers), y(r) }
	}
	var ps panels
	ps.add("Requests at the site (models)", axes{x: "readers", y: "requests an hour", logX: true, logY: true},
		line("polling, every 30 min", r.Rows, at(func(r row) float64 { return r.Polling.Origin })),
		line("FeedEx, every 16 h", r.Rows, at(func(r row) float64 { return r.FeedEx.Origin })),
		line("ours, FeedTree: one peer, every 15 min", r.Rows, at(func(r row) float64 { return r.Scribe.Origin })))
	lines := []series{
		line("polling: the site", r.Rows, at(func(r row) float64 { return r.Polling.Busiest })),
		line("FeedEx: busiest node", r.Rows, at(func(r row) float64 { return r.FeedEx.Busiest })),
		line("Scribe: busiest node", r.Rows, at(func(r row) float64 { return r.Scribe.Busiest })),
	}
	for i, peers := range r.Config.Peers {
		if shown(peers) {
			lines = append(lines, line(fmt.Sprintf("ours, %d peers: publisher", peers), r.Rows, at(func(r row) float64 { return r.Ours[i].Load.Publisher })))
		}
	}
	ps.add("What the busiest sends for an entry (models)", axes{x: "readers", y: "messages an entry", logX: true, logY: true}, lines...)
	type group = experiment.GroupLoad
	var model series
	model.name = "model, publisher"
	for _, n := range r.Config.Peers {
		model.x, model.y = append(model.x, float64(n)), append(model.y, experiment.Ours(r.Config, n, 0).Publisher)
	}
	ps.add("One entry in a group of ours", axes{x: "peers of the group", y: "messages an entry", logX: true, logY: true}, model,
		line("measured, publisher", r.Groups, func(g group) (x, y float64) { return float64(g.Peers), g.Notifies + g.Polls }),
		line("measured, busiest other", r.Groups, func(g group) (x, y float64) { return float64(g.Peers), g.Busiest }))
	ps.add("Mean lag (models)", axes{x: "readers", y: "seconds", logX: true, logY: true},
		line("polling", r.Rows, at(func(r row) float64 { return r.Polling.Lag })),
		line("FeedEx", r.Rows, at(func(r row) float64 { return r.FeedEx.Lag })),
		line("ours, FeedTree", r.Rows, at(func(r row) float64 { return r.Scribe.Lag })))
	return ps.grid(2)
}
