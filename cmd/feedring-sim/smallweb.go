package main

import (
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot"

	"github.com/feedring/feedring/internal/sim/experiment"
	"github.com/feedring/feedring/internal/sim/experiment/smallweb"
)

func smallwebCommand(stdout, stderr io.Writer) *cobra.Command {
	cfg := smallweb.Default()
	var sites, manifest, captures, feed string
	var most int
	cmd := experimentCommand("smallweb", "a day of many personal sites: what readers ask of them, by our rules and by Miniflux's",
		"  feedring-sim smallweb --sites sites.txt.gz --documents MANIFEST.csv --captures bbc_items.csv.gz", stdout, stderr,
		func(seed uint64, progress experiment.Progress) (outcome, error) {
			cfg.Seed = seed
			err := cmp.Or(
				read("--sites", sites, func(r io.Reader) (err error) { cfg.Sites, err = smallweb.Sites(r); return err }),
				read("--documents", manifest, func(r io.Reader) (err error) { cfg.Sizes, err = smallweb.Sizes(r); return err }),
				read("--captures", captures, func(r io.Reader) (err error) { cfg.Rhythm, err = smallweb.Captured(r, feed); return err }),
			)
			if err != nil {
				return outcome{}, err
			}
			if most > 0 {
				cfg.Sites = cfg.Sites[:min(most, len(cfg.Sites))]
			}
			r := smallweb.Play(cfg, progress)
			return outcome{r, func(out io.Writer) { smallwebTable(out, r) }, func() ([][]*plot.Plot, error) { return smallwebPicture(r) }, nil}, nil
		})
	cmd.PreRunE = func(*cobra.Command, []string) error {
		switch {
		case sites == "", manifest == "", captures == "":
			return errors.New("--sites, --documents and --captures are needed: see --help for an example")
		case most < 0:
			return fmt.Errorf("--most %d: give 0 or more", most)
		case !(cfg.Conditional >= 0 && cfg.Conditional <= 1): // which is not a number, neither
			return fmt.Errorf("--conditional %v: give a share from 0 to 1", cfg.Conditional)
		}
		return nil
	}
	cmd.Flags().StringVar(&sites, "sites", "", "`FILE` of addresses of feeds, one a line")
	cmd.Flags().StringVar(&manifest, "documents", "", "`FILE` (CSV) of real documents: entries and bytes of each")
	cmd.Flags().StringVar(&captures, "captures", "", "`FILE` of captures of a real feed (CSV): feed and first_seen of each entry, for the hours at which people publish")
	cmd.Flags().StringVar(&feed, "feed", "home_uk", "which feed of the captures")
	cmd.Flags().IntVar(&most, "most", 0, "sites that are played at most; 0: all")
	cmd.Flags().Float64Var(&cfg.Conditional, "conditional", cfg.Conditional, "share of the sites that answer that nothing changed, in place of the whole document")
	return cmd
}

// read opens a file, which may be compressed by gzip.
func read(flag, file string, take func(io.Reader) error) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return fmt.Errorf("%s %s: %w", flag, file, err)
		}
	}
	if err := take(r); err != nil {
		return fmt.Errorf("%s %s: %w", flag, file, err)
	}
	return nil
}

func smallwebTable(out io.Writer, r smallweb.Result) {
	rows := [][]string{{"rule, mean interval", "requests", "of Miniflux's", "documents", "MB", "missed", "mean delay"}}
	for _, s := range r.Scores {
		rows = append(rows, []string{
			s.Rule, count(s.Requests), fmt.Sprintf("%.0f %%", 100*float64(s.Requests)/float64(max(1, r.Scores[0].Requests))),
			count(s.Documents), fmt.Sprintf("%.0f", float64(s.Bytes)/1e6), fmt.Sprintf("%.2f %%", 100*float64(s.Missed)/float64(max(1, s.Entries))),
			fmt.Sprintf("%.2f h", s.DelayH),
		})
	}
	table(out, fmt.Sprintf("%s sites, a day: %s entries", count(r.Sites), count(r.Scores[0].Entries)), rows)
}

func smallwebPicture(r smallweb.Result) ([][]*plot.Plot, error) {
	var ps panels
	var all []series
	for _, s := range r.Scores {
		all = append(all, line(s.Rule, []smallweb.Score{s}, func(s smallweb.Score) (x, y float64) {
			return float64(s.Requests) / float64(r.Sites), s.DelayH
		}))
	}
	ps.add("A day of personal sites", axes{x: "requests a site", y: "mean delay in hours", logX: true, logY: true}, all...)
	return ps.grid(1)
}
