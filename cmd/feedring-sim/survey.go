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
	"github.com/feedring/feedring/internal/sim/experiment/smallweb"
	"github.com/feedring/feedring/internal/sim/experiment/survey"
)

func surveyCommand(stdout, stderr io.Writer) *cobra.Command {
	var documents, captures, snapshots, sites, feed string
	var cmd *cobra.Command
	cmd = experimentCommand("survey", "what papers print of real feeds, beside captured feeds and documents, and what each way to look at them saves",
		"  feedring-sim survey --documents corpus --captures bbc_items.csv.gz\n"+
			"  xz -dc snapshots.tar.xz | feedring-sim survey --documents corpus --captures bbc_items.csv.gz --snapshots - --sites sites.txt.gz", stdout, stderr,
		func(seed uint64, progress experiment.Progress) (outcome, error) {
			var cfg survey.Config
			err := read("--captures", captures, func(r io.Reader) (err error) { cfg.Captured, err = survey.Captures(r); return err })
			if err == nil && sites != "" {
				model := smallweb.Default()
				model.Seed, cfg.Sites = seed, &model
				err = cmp.Or(
					read("--sites", sites, func(r io.Reader) (err error) { model.Sites, err = smallweb.Sites(r); return err }),
					oneOf(captures, cfg.Captured, feed),
					read("--captures", captures, func(r io.Reader) (err error) { model.Rhythm, err = smallweb.Captured(r, feed); return err }),
				)
			}
			if err != nil {
				return outcome{}, err
			}
			if cfg.Documents, cfg.Refused, err = survey.Documents(documents, progress); err != nil {
				return outcome{}, fmt.Errorf("--documents %s: %w", documents, err)
			}
			if sites != "" && !slices.ContainsFunc(cfg.Documents, func(d survey.Document) bool { return len(d.Articles) > 0 }) {
				return outcome{}, fmt.Errorf("--documents %s: none has entries, of which personal sites could have the size: give others, or leave --sites out", documents)
			}
			var r *survey.Result
			study := func(in io.Reader) (err error) { cfg.Snapshots = in; r, err = survey.Study(cfg, progress); return err }
			switch snapshots {
			case "":
				err = study(nil)
			case "-":
				if err = study(cmd.InOrStdin()); err != nil {
					err = fmt.Errorf("--snapshots - (standard input): %w", err)
				}
			default:
				err = read("--snapshots", snapshots, study)
			}
			if err != nil {
				return outcome{}, err
			}
			return outcome{r, func(out io.Writer) { surveyTables(out, r) }, func() ([][]*plot.Plot, error) { return surveyPicture(r) }, nil}, nil
		})
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if documents == "" || captures == "" {
			return errors.New("--documents and --captures are needed: see --help for an example")
		}
		return nil
	}
	cmd.Flags().StringVar(&documents, "documents", "", "`DIR` of real documents, or a CSV file beside them whose column file names them")
	cmd.Flags().StringVar(&captures, "captures", "", "`FILE` of captures of real feeds (CSV): feed, first_seen and last_seen of each entry")
	cmd.Flags().StringVar(&snapshots, "snapshots", "", "`FILE` of whole documents in time order, a tar stream of FEED/2006-01-02T150405Z.xml; - for standard input")
	cmd.Flags().StringVar(&sites, "sites", "", "`FILE` of addresses of personal sites, one a line, that are looked at every 15 minutes in a model")
	cmd.Flags().StringVar(&feed, "feed", "home_uk", "which feed of the captures tells the hours at which personal sites publish")
	return cmd
}

// oneOf reports a feed that was not captured, with some that were.
func oneOf(file string, captured []survey.Captured, feed string) error {
	var names []string
	for _, f := range captured {
		if f.Name == feed {
			return nil
		}
		names = append(names, fmt.Sprintf("%.40q", f.Name))
	}
	return fmt.Errorf("--captures %s: nothing of %q is in it: give one of its feeds as --feed: %s", file, feed, strings.Join(names[:min(5, len(names))], ", "))
}

func surveyTables(out io.Writer, r *survey.Result) {
	rows := [][]string{{"", "", "printed", "captured feeds", "documents", "snapshots"}}
	for _, l := range r.Lines {
		row := []string{l.Paper, l.What}
		for _, v := range []*float64{l.Printed, l.Captured, l.Documents, l.Snapshots} {
			switch {
			case v == nil:
				row = append(row, "–")
			case l.Share:
				row = append(row, percent(*v))
			default:
				row = append(row, num(*v))
			}
		}
		rows = append(rows, row)
	}
	table(out, "What papers print of feeds, and what these feeds give", rows)
	if len(r.Ladders) > 0 {
		rows = [][]string{append([]string{"", "looks", "refused", "MB"}, survey.RungNames[survey.NotChanged:]...),
			{"printed: Cobra, figure 8", "", "", "", percent(survey.PrintedNotChanged), "–", percent(survey.PrintedChanged), "–", "–", "–"}}
		for _, l := range r.Ladders {
			row := []string{l.Feed, count(l.Looks), count(l.Refused), fmt.Sprintf("%.1f", float64(l.Bytes[survey.Whole])/1e6)}
			for rung := range survey.RungNames[survey.NotChanged:] {
				saved, ok := l.Saved(survey.NotChanged + rung)
				switch {
				case !ok:
					row = append(row, "–")
				case saved < 1 && saved > 0.9999:
					row = append(row, fmt.Sprintf("%.4f %%", 100*saved))
				default:
					row = append(row, fmt.Sprintf("%.2f %%", 100*saved))
				}
			}
			rows = append(rows, row)
		}
		table(out, "Ladder: of the bytes of whole documents each saves", rows)
	}
	if r.RefusedCount > 0 {
		_, _ = fmt.Fprintf(out, "Refused by the reader: %d documents\n", r.RefusedCount)
		for _, f := range r.Refused {
			_, _ = fmt.Fprintf(out, "  %s: %s\n", f.Name, f.Reason)
		}
		_, _ = fmt.Fprintln(out)
	}
	_, _ = fmt.Fprintln(out, strings.Join(r.Notes, "\n"))
}

func surveyPicture(r *survey.Result) ([][]*plot.Plot, error) {
	var ps panels
	ranks := func(name string, rates []float64) series {
		s := series{name: name, y: rates}
		for i := range rates {
			s.x = append(s.x, float64(i+1))
		}
		return s
	}
	ps.add("Rates by rank", axes{x: "rank", y: "entries a day", logX: true, logY: true},
		ranks("captured feeds", r.Rates.Captured), ranks("documents", r.Rates.Documents))
	var all []series
	for _, l := range r.Ladders {
		s := series{name: l.Feed}
		for rung := range l.Bytes {
			if saved, ok := l.Saved(rung); ok {
				s.x, s.y = append(s.x, float64(rung)), append(s.y, 100*(1-saved))
			}
		}
		all = append(all, s)
	}
	ps.add("Ladder: % of the bytes of whole documents", axes{x: "rung: 0 whole documents to 6 packed, new alone", y: "%", logY: true}, all...)
	return ps.grid(2)
}
