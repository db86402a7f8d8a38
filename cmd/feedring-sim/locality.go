package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/internal/sim/experiment/planet"
)

func localityCommand(stdout io.Writer) *cobra.Command {
	cfg, asJSON := planet.DefaultLocality(), false
	cmd := &cobra.Command{
		Use: "locality", Short: "Cobra's figure 9: how far fetchers are from feeds, by chance, by Cobra's first fit, and by our rule (a model)", Args: cobra.NoArgs,
		Example: "  feedring-sim locality\n  feedring-sim locality --fetchers 50",
		RunE: func(*cobra.Command, []string) error {
			r, err := planet.PlanetLab().Locality(cfg)
			if err != nil {
				return err
			}
			return ended(nil, (&experimentFlags{json: asJSON}).print(stdout, outcome{result: r, tables: func(out io.Writer) { localityTable(out, r) }}))
		},
	}
	cmd.Flags().Uint64Var(&cfg.Seed, "seed", cfg.Seed, "of every chance: the same seed gives the same result")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object instead of a table")
	cmd.Flags().IntVar(&cfg.Fetchers, "fetchers", cfg.Fetchers, "peers that fetch, all of them mirrors of all feeds")
	cmd.Flags().IntVar(&cfg.Feeds, "feeds", cfg.Feeds, "feeds")
	cmd.Flags().IntVar(&cfg.Places, "places", cfg.Places, "hosts of feeds")
	return cmd
}

func localityTable(out io.Writer, r planet.LocalityResult) {
	rows := [][]string{{"fetchers by", "round trip p50 ms", "p90 ms", "below chance", "most feeds of one"}}
	for _, x := range r.Rows {
		rows = append(rows, []string{x.By, num(x.Median), num(x.P90), percent(x.Gain), count(x.Most)})
	}
	rows = append(rows, []string{"Cobra, printed: without, with", "197, 160", "", "18 %", ""})
	table(out, fmt.Sprintf("%d fetchers, %d feeds at %d places, %d draws", r.Config.Fetchers, r.Config.Feeds, r.Config.Places, r.Config.Draws), rows)
}
