package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot"

	"github.com/feedring/feedring/internal/sim/experiment"
)

// experimentFlags is what every experiment is told.
type experimentFlags struct {
	seed uint64
	json bool
	plot string
}

func (f *experimentFlags) add(cmd *cobra.Command) {
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "of every chance: the same seed gives the same result")
	cmd.Flags().BoolVar(&f.json, "json", false, "one JSON object instead of tables")
	cmd.Flags().StringVar(&f.plot, "plot", "", "`FILE.svg` to draw the result in")
}

func (f *experimentFlags) check() error {
	if f.plot != "" && !strings.HasSuffix(f.plot, ".svg") {
		return errors.New("--plot: give a file that ends in .svg")
	}
	return nil
}

// latencies adds the flag that says how far peers are from each other.
func latencies(cmd *cobra.Command, of *experiment.Latencies) {
	cmd.Flags().StringVar((*string)(of), "latencies", "", "how far peers are from each other: `"+string(experiment.PlanetLab)+"`, as measured between 189 nodes of PlanetLab")
}

// writable reports what keeps a file from being written, without a change to
// what is there: it is asked before a run that may take minutes.
func writable(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = os.CreateTemp(filepath.Dir(name), ".plot"); err == nil {
			defer os.Remove(f.Name())
		}
	}
	if err != nil {
		return fmt.Errorf("--plot %s cannot be written: %w", name, err)
	}
	return f.Close()
}

// within says which of a flag's values is too small or too large.
func within(flag string, values []int, least, most int) error {
	for _, v := range values {
		if v < least || v > most {
			return fmt.Errorf("%s %d: give %d to %d", flag, v, least, most)
		}
	}
	return nil
}

// outcome is a result that can be shown.
type outcome struct {
	result  any // for --json
	tables  func(io.Writer)
	picture func() ([][]*plot.Plot, error) // nil: there is nothing to draw, and --plot was refused
	broken  error                          // what the experiment was to show does not hold; shown after the result
}

// experimentCommand is a command that plays an experiment and shows it. What it
// is told is checked by a PreRunE, whose errors are wrong usage.
func experimentCommand(use, short, example string, stdout, stderr io.Writer,
	play func(seed uint64, progress experiment.Progress) (outcome, error)) *cobra.Command {
	f := &experimentFlags{}
	cmd := &cobra.Command{
		Use: use, Short: short, Example: example, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if f.plot != "" {
				if err := writable(f.plot); err != nil {
					return failure{err}
				}
			}
			b := &bar{out: stderr}
			o, err := play(f.seed, b.show)
			b.end()
			if err != nil {
				return failure{err} // what was played of it promises nothing
			}
			return ended(o.broken, f.show(stdout, o))
		},
	}
	f.add(cmd)
	return cmd
}

// show prints and draws: one of them is worth having where the other fails.
func (f *experimentFlags) show(stdout io.Writer, o outcome) error {
	return cmp.Or(f.print(stdout, o), f.draw(o))
}

func (f *experimentFlags) print(stdout io.Writer, o outcome) error {
	if f.json {
		return json.NewEncoder(stdout).Encode(o.result)
	}
	out := bufio.NewWriter(stdout) // which remembers the first error
	o.tables(out)
	return out.Flush()
}

func (f *experimentFlags) draw(o outcome) error {
	if f.plot == "" {
		return nil
	}
	panels, err := o.picture()
	if err != nil {
		return err
	}
	svg, err := draw(panels)
	if err != nil {
		return fmt.Errorf("draw %s: %w", f.plot, err)
	}
	return os.WriteFile(f.plot, svg, 0o644)
}

// bar is a line on stderr that is written over.
type bar struct {
	out   io.Writer
	shown bool
}

const barWidth = 24

func (b *bar) show(done, total int, what string) {
	b.shown = true
	full := barWidth * min(done, total) / max(total, 1)
	_, _ = fmt.Fprintf(b.out, "\r[%s%s] %d of %d: %-44s", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), done, total, what)
}

func (b *bar) end() {
	if b.shown {
		_, _ = fmt.Fprintln(b.out)
	}
}

// table writes rows of cells; the first row is the head.
func table(out io.Writer, title string, rows [][]string) {
	_, _ = fmt.Fprintf(out, "%s\n", title)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		_, _ = fmt.Fprintln(w, strings.Join(row, "\t")+"\t")
	}
	_ = w.Flush()
	_, _ = fmt.Fprintln(out)
}

// num shows a figure with no more digits than it is worth.
func num(v float64) string {
	switch {
	case v == float64(int64(v)):
		return fmt.Sprintf("%d", int64(v))
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 0.01:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.2g", v)
	}
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

func count(n int) string { return fmt.Sprint(n) }
