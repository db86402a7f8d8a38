package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/internal/sim"
)

// faultsFlags is what `faults` is told.
type faultsFlags struct {
	seeds, from uint64
	jobs, peers int
	json, trace bool
	hostile     bool
	state       string
	keepGoing   int
}

func faultsCommand(stdout, stderr io.Writer) *cobra.Command {
	f := &faultsFlags{}
	cmd := &cobra.Command{
		Use:   "faults",
		Short: "play seeds: ten virtual minutes of faults each, every invariant checked after every step",
		Example: `  feedring-sim faults --seeds 1000
  feedring-sim faults --seeds 1000000 --state run.json --jobs 2   # may be stopped and started again
  feedring-sim faults --seeds 1 --peers 1000                      # a large network, for minutes
  feedring-sim faults --seeds 1000 --hostile                      # members turn hostile as well
  feedring-sim faults --from 4711 --seeds 1 --trace               # replay one seed, readably`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return f.run(stdout, stderr) },
	}
	flags := cmd.Flags()
	flags.Uint64Var(&f.seeds, "seeds", 100, "how many seeds")
	flags.Uint64Var(&f.from, "from", 1, "the first seed")
	flags.IntVar(&f.jobs, "jobs", 1, "seeds played at the same time: as many as cores, four times as many at most")
	flags.IntVar(&f.peers, "peers", 0, "at least so many in each network, in groups of 20 to 100: minutes for a thousand; 0: as the seed says, mostly 25")
	flags.BoolVar(&f.hostile, "hostile", false, "members turn hostile as well: a key says for a while what no machine would")
	flags.BoolVar(&f.json, "json", false, "one JSON object for each violation, instead of text; the last line is JSON always")
	flags.BoolVar(&f.trace, "trace", false, "tell everything that happens; for one seed")
	flags.StringVar(&f.state, "state", "", "`FILE` that keeps how far a run came; the same program goes on with it where there is one")
	flags.IntVar(&f.keepGoing, "keep-going", 20, "violations after which no other seed is played")
	return cmd
}

func (f *faultsFlags) run(stdout, stderr io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.peers == 0 {
		debug.SetGCPercent(1600) // seeds leave much garbage and keep some megabytes
	}
	largePages(int64(f.jobs) * heapOfJob)
	if f.trace {
		return f.replay(stdout)
	}
	interrupted, stop := interrupts() // before a state is read: then something is kept
	defer stop()
	c, err := resume(f)
	if err != nil {
		return failure{err}
	}
	c.stdout, c.progress = stdout, newProgress(stderr, f.seeds)
	err = c.play(interrupted)
	c.progress.end()
	if err = cmp.Or(err, c.summary()); err == nil && c.left() {
		err = fmt.Errorf("stopped before seed %d: %s", c.Next, f.goOn(c.Next))
	}
	if c.Violations >= f.keepGoing && err == nil && c.Next < f.from+f.seeds {
		err = fmt.Errorf("stopped early, before seed %d, by --keep-going %d: %s", c.Next, f.keepGoing, f.goFurther(&c.saved))
	}
	return ended(c.violated(), err)
}

// check says what is wrong on the command line.
func (f *faultsFlags) check() error {
	most := jobsOfCore * runtime.NumCPU()
	switch {
	case f.seeds == 0, f.jobs < 1, f.keepGoing < 1:
		return errors.New("--seeds, --jobs and --keep-going must be at least 1")
	case f.seeds > math.MaxUint64-f.from:
		return fmt.Errorf("--from %d --seeds %d: seeds end at %d", f.from, f.seeds, uint64(math.MaxUint64-1))
	case f.peers != 0 && (f.peers < fewestPeers || f.peers > manyPeers):
		return fmt.Errorf("--peers %d: give %d to %d, or 0", f.peers, fewestPeers, manyPeers)
	case f.peers != 0 && f.hostile:
		return errors.New("--peers and --hostile: give one of them")
	case f.jobs > most:
		return fmt.Errorf("--jobs %d: give %d at most, %d for each core", f.jobs, most, jobsOfCore)
	case f.trace && f.seeds != 1:
		return errors.New("--trace is for one seed: add --seeds 1")
	case f.trace && f.state != "":
		return errors.New("--trace tells one seed from its begin: leave --state out")
	case f.trace && f.json:
		return errors.New("--trace is text, with the summary in JSON as its last line: leave --json out")
	}
	return nil
}

// heapOfJob is how large the heap becomes for one seed at a time.
const heapOfJob = 80 << 20

// What --peers may be: less is what seeds have by themselves, more takes hours.
const fewestPeers, manyPeers = 50, 10_000

// seed plays one seed.
func (f *faultsFlags) seed(seed uint64, trace func(string)) sim.Outcome {
	if f.peers > 0 {
		return sim.Large(seed, f.peers, trace)
	}
	if f.hostile {
		return sim.Hostile(seed, trace)
	}
	return sim.Faults(seed, trace)
}

// jobsOfCore bounds --jobs: each takes memory, and more than one are no faster.
const jobsOfCore = 4

// goOn says how a run that was stopped is gone on with.
func (f *faultsFlags) goOn(next uint64) string {
	if f.state != "" {
		return "the same command goes on"
	}
	return f.rest(next) + ", and --state FILE goes on by itself"
}

// goFurther says how a run that met as many violations as it was to is gone on with.
func (f *faultsFlags) goFurther(s *saved) string {
	if f.state != "" {
		return fmt.Sprintf("the same command with --keep-going %d or more goes on", s.Violations+1)
	}
	return f.rest(s.Next)
}

// rest says how what is left is played without a state.
func (f *faultsFlags) rest(next uint64) string {
	return fmt.Sprintf("--from %d --seeds %d%s plays what is left", next, f.from+f.seeds-next, f.worlds())
}

// worlds are the flags that say which networks a seed is played in.
func (f *faultsFlags) worlds() string {
	switch {
	case f.peers > 0:
		return fmt.Sprintf(" --peers %d", f.peers)
	case f.hostile:
		return " --hostile"
	}
	return ""
}

// replay plays one seed with its trace.
func (f *faultsFlags) replay(stdout io.Writer) error {
	out := bufio.NewWriterSize(stdout, 1<<16)
	began := time.Now()
	o := f.seed(f.from, func(line string) { _, _ = fmt.Fprintln(out, line) })
	c := &campaign{flags: f, stdout: out}
	c.add(o)
	c.Wall = time.Since(began).Seconds()
	err := cmp.Or(c.summary(), out.Flush())
	if o.Violation != nil {
		return ended(o.Violation, err)
	}
	return ended(nil, err)
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
		Replay: c.flags.replayCommand(os.Args[0], o.Seed)}
	if c.flags.json {
		return json.NewEncoder(c.stdout).Encode(v)
	}
	_, err := fmt.Fprintf(c.stdout, "seed %d: %v\n  %s\n", o.Seed, o.Violation, v.Replay)
	return err
}

// saved is how far a run came.
type saved struct {
	stamp
	From       uint64   `json:"from"`
	Peers      int      `json:"peers"` // as --peers said
	Hostile    bool     `json:"hostile"`
	Next       uint64   `json:"next"` // seeds below are played
	Seeds      uint64   `json:"seeds"`
	Violations int      `json:"violations"`
	Violating  []uint64 `json:"violating"` // the first mostNamed seeds of Violations, in order
	Virtual    float64  `json:"virtual_s"`
	Wall       float64  `json:"wall_s"`
	Steps      uint64   `json:"steps"`
	Hash       uint64   `json:"hash"`
}

// mostNamed bounds the seeds that a state and the error's line name, whatever
// --keep-going is.
const mostNamed = 100

// violated says which seeds violate an invariant; nil: none does.
func (s *saved) violated() error {
	if s.Violations == 0 {
		return nil
	}
	named := strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Violating), " ", ", "), "[]")
	if more := s.Violations - len(s.Violating); more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Errorf("%d of %d seeds violate an invariant: %s", s.Violations, s.Seeds, named)
}

func resume(f *faultsFlags) (*campaign, error) {
	c := &campaign{flags: f, saved: saved{From: f.from, Next: f.from, Peers: f.peers, Hostile: f.hostile}}
	if f.state == "" {
		return c, nil
	}
	own, err := ownStamp(kindFaults)
	if err != nil {
		return nil, err
	}
	c.stamp = own
	var kept saved
	found, err := recall(f.state, own, &kept)
	if err != nil {
		return nil, err
	}
	if found {
		if err := kept.fits(f); err != nil {
			return nil, err
		}
		c.saved = kept
	}
	return c, c.save() // so that what cannot be kept is known before hours are played
}

// fits says why what was kept is not of the run that f asks for.
func (s *saved) fits(f *faultsFlags) error {
	if err := s.check(); err != nil {
		return wrongState(f.state, err)
	}
	switch {
	case s.From != f.from:
		return fmt.Errorf("--state: %s began with seed %d: give --from %d, or another file", f.state, s.From, s.From)
	case s.Peers != f.peers:
		return fmt.Errorf("--state: %s is of networks of another size: give --peers %d, or another file", f.state, s.Peers)
	case s.Hostile != f.hostile:
		return fmt.Errorf("--state: %s is of a run with --hostile=%t: give that, or another file", f.state, s.Hostile)
	case s.Seeds > f.seeds:
		return fmt.Errorf("--state: %s holds %d seeds already: give --seeds %d or more, or another file", f.state, s.Seeds, s.Seeds)
	}
	return nil
}

// check says what cannot be: each seed is counted once, in order.
func (s *saved) check() error {
	switch {
	case s.Next < s.From || s.Next-s.From != s.Seeds:
		return fmt.Errorf("%d seeds from %d up to %d", s.Seeds, s.From, s.Next)
	case s.Violations < 0 || uint64(s.Violations) > s.Seeds:
		return fmt.Errorf("%d violations in %d seeds", s.Violations, s.Seeds)
	case len(s.Violating) != min(s.Violations, mostNamed):
		return fmt.Errorf("%d violations by %d seeds", s.Violations, len(s.Violating))
	case s.Virtual < 0 || s.Wall < 0:
		return fmt.Errorf("%v virtual seconds in %v", s.Virtual, s.Wall)
	}
	return nil
}

// save keeps how far the run came.
func (c *campaign) save() error {
	if c.flags.state == "" {
		return nil
	}
	return keep(c.flags.state, c.saved)
}
