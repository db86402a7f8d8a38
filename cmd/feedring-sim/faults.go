package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/internal/sim"
)

// faultsFlags is what `faults` is told.
type faultsFlags struct {
	seeds, from uint64
	jobs        int
	json, trace bool
	state       string
	keepGoing   int
}

// failure is an error that is not the caller's.
type failure struct{ error }

func isFailure(err error) bool { return errors.As(err, new(failure)) }

func faultsCommand(stdout, stderr io.Writer) *cobra.Command {
	f := &faultsFlags{}
	cmd := &cobra.Command{
		Use:   "faults",
		Short: "play seeds: ten virtual minutes of faults each, every invariant checked after every step",
		Example: `  feedring-sim faults --seeds 1000
  feedring-sim faults --seeds 1000000 --state run.json --jobs 2   # may be stopped and started again
  feedring-sim faults --from 4711 --seeds 1 --trace               # replay one seed, readably`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return f.run(stdout, stderr) },
	}
	flags := cmd.Flags()
	flags.Uint64Var(&f.seeds, "seeds", 100, "how many seeds")
	flags.Uint64Var(&f.from, "from", 1, "the first seed")
	flags.IntVar(&f.jobs, "jobs", 1, "seeds played at the same time, one on each core")
	flags.BoolVar(&f.json, "json", false, "one JSON object for each violation, instead of text")
	flags.BoolVar(&f.trace, "trace", false, "tell everything that happens; for one seed")
	flags.StringVar(&f.state, "state", "", "file that keeps how far a run came; it is gone on with where there is one")
	flags.IntVar(&f.keepGoing, "keep-going", 20, "violations after which no other seed is played")
	return cmd
}

func (f *faultsFlags) run(stdout, stderr io.Writer) error {
	switch {
	case f.seeds == 0, f.jobs < 1, f.keepGoing < 1:
		return errors.New("--seeds, --jobs and --keep-going must be at least 1")
	case f.trace && f.seeds != 1:
		return errors.New("--trace is for one seed: add --seeds 1")
	}
	debug.SetGCPercent(1600) // seeds leave much garbage and keep some megabytes
	if f.trace {
		return f.replay(stdout)
	}
	c, err := resume(f)
	if err != nil {
		return failure{err}
	}
	c.stdout, c.progress = stdout, newProgress(stderr, f.seeds)
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(interrupted)
	if err := c.play(interrupted); err != nil {
		return failure{err}
	}
	c.progress.end()
	if err := c.summary(); err != nil {
		return failure{err}
	}
	if c.left() {
		return failure{fmt.Errorf("stopped after seed %d: %s", c.Next-1, f.goOn(c.Next))}
	}
	if c.Violations > 0 {
		return failure{fmt.Errorf("%d of %d seeds violate an invariant", c.Violations, c.Seeds)}
	}
	return nil
}

// goOn says how a run that was stopped is gone on with.
func (f *faultsFlags) goOn(next uint64) string {
	if f.state != "" {
		return "the same command goes on"
	}
	return fmt.Sprintf("--from %d --seeds %d plays what is left, and --state FILE goes on by itself", next, f.from+f.seeds-next)
}

// replay plays one seed with its trace.
func (f *faultsFlags) replay(stdout io.Writer) error {
	out := bufio.NewWriterSize(stdout, 1<<16)
	began := time.Now()
	o := sim.Faults(f.from, func(line string) { _, _ = fmt.Fprintln(out, line) })
	c := &campaign{flags: f, stdout: out}
	c.add(o)
	c.Wall = time.Since(began).Seconds()
	if err := c.summary(); err != nil {
		return failure{err}
	}
	if err := out.Flush(); err != nil {
		return failure{err}
	}
	if o.Violation != nil {
		return failure{o.Violation}
	}
	return nil
}

// violation is one line of --json.
type violation struct {
	Seed      uint64  `json:"seed"`
	Invariant string  `json:"invariant"`
	At        float64 `json:"at_s"`
	Text      string  `json:"text"`
	Replay    string  `json:"replay"`
}

func (c *campaign) report(o sim.Outcome) error {
	v := violation{Seed: o.Seed, Invariant: o.Violation.Invariant, At: o.Violation.At.Seconds(), Text: o.Violation.Text,
		Replay: fmt.Sprintf("feedring-sim faults --from %d --seeds 1 --trace", o.Seed)}
	if c.flags.json {
		return json.NewEncoder(c.stdout).Encode(v)
	}
	_, err := fmt.Fprintf(c.stdout, "seed %d: %v\n  %s\n", o.Seed, o.Violation, v.Replay)
	return err
}

// saved is how far a run came.
type saved struct {
	From       uint64  `json:"from"`
	Next       uint64  `json:"next"` // seeds below are played
	Seeds      uint64  `json:"seeds"`
	Violations int     `json:"violations"`
	Virtual    float64 `json:"virtual_s"`
	Wall       float64 `json:"wall_s"`
	Steps      uint64  `json:"steps"`
	Hash       uint64  `json:"hash"`
}

func resume(f *faultsFlags) (*campaign, error) {
	c := &campaign{flags: f, saved: saved{From: f.from, Next: f.from}}
	if f.state == "" {
		return c, nil
	}
	data, err := os.ReadFile(f.state)
	if errors.Is(err, os.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &c.saved)
	}
	if err == nil && c.From != f.from {
		err = fmt.Errorf("it began with seed %d: give --from %d, or remove it", c.From, c.From)
	}
	if err != nil {
		return nil, fmt.Errorf("state %s: %w", f.state, err)
	}
	return c, nil
}

// save keeps how far the run came.
func (c *campaign) save() error {
	if c.flags.state == "" {
		return nil
	}
	return keep(c.flags.state, c.saved)
}

// keep writes a file, whole or not at all.
func keep(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
