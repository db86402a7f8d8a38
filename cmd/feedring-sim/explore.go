package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/internal/sim/explore"
)

// exploreFlags is what `explore` is told.
type exploreFlags struct {
	states int
	peers  []int
	json   bool
	state  string
}

func exploreCommand(stdout, stderr io.Writer) *cobra.Command {
	f := &exploreFlags{}
	cmd := &cobra.Command{
		Use:   "explore",
		Short: "walk through the interleavings of a small group's failover, looking for states that stay bad for ever, or longer than promised",
		Example: `  feedring-sim explore --states 100000
  feedring-sim explore --states 10000000 --state explore.json   # may be stopped: the size under way begins anew`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return f.run(stdout, stderr) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.states, "states", 100_000, "how many different states, in equal parts for each size of the group")
	flags.IntSliceVar(&f.peers, "peers", []int{2, 3, 4, 5}, "sizes of the group")
	flags.BoolVar(&f.json, "json", false, "one JSON object for each exploration, instead of text")
	flags.StringVar(&f.state, "state", "", "`FILE` that keeps which sizes are done, each at its end; the same program does not do them again")
	return cmd
}

// check says what is wrong on the command line.
func (f *exploreFlags) check() error {
	if f.states < len(f.peers) || len(f.peers) == 0 {
		return errors.New("--states must be at least 1 for each size")
	}
	for i, n := range f.peers {
		if n < 2 || n > explore.MaxPeers || slices.Contains(f.peers[:i], n) {
			return fmt.Errorf("--peers: give sizes from 2 to %d, each once", explore.MaxPeers)
		}
	}
	return nil
}

// each is how many states are looked for of each size.
func (f *exploreFlags) each() int { return f.states / len(f.peers) }

func (f *exploreFlags) run(stdout, stderr io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	debug.SetGCPercent(200) // most of what is made goes at once
	interrupted, stop := interrupts()
	defer stop()
	t := &tour{flags: f, stdout: stdout, stderr: stderr, interrupted: interrupted}
	if err := t.resume(); err != nil {
		return failure{err}
	}
	err := t.play()
	err = cmp.Or(err, t.summary())
	var wrong error
	if s := t.sum(); s.Bad+s.Late > 0 {
		wrong = fmt.Errorf("%d states stay bad for ever, %d take longer than 3 r to one manager", s.Bad, s.Late)
	}
	return ended(wrong, err)
}

// tour is explorations of groups of several sizes.
type tour struct {
	flags          *exploreFlags
	stdout, stderr io.Writer
	kept           toured
	interrupted    <-chan os.Signal
	ended          []explore.Result // of the size under way: counted, and not kept
	last           time.Time        // of progress
}

// toured is how far a tour came: Done are the explorations of whole sizes.
type toured struct {
	stamp
	States int              `json:"states"` // of each size
	Done   []explore.Result `json:"done"`
	Memory uint64           `json:"memory_bytes"`
}

// play explores every size, until somebody interrupts.
func (t *tour) play() error {
	for _, n := range t.flags.peers {
		err := t.explore(n)
		if errors.Is(err, explore.ErrStopped) {
			return fmt.Errorf("stopped among groups of %d: %s", n, t.flags.goOn())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// goOn says how a tour that was stopped is gone on with.
func (f *exploreFlags) goOn() string {
	if f.state != "" {
		return "the same command begins with this size again"
	}
	return "nothing is kept; --state FILE keeps which sizes are done"
}

// explore explores groups of one size, unless that was done before.
func (t *tour) explore(peers int) error {
	if slices.ContainsFunc(t.kept.Done, func(r explore.Result) bool { return r.Peers == peers }) {
		return nil
	}
	var told error
	err := explore.RunCampaign(explore.Group{}, peers, t.flags.each(), explore.Watch{
		Progress: t.progress,
		Stop:     func() bool { return told != nil || len(t.interrupted) > 0 },
		Tell: func(r explore.Result) {
			told = cmp.Or(told, t.tell(r))
			r.Trace, r.SlowTrace = nil, nil // they are told
			t.ended = append(t.ended, r)
		}})
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.kept.Memory = max(t.kept.Memory, m.Sys)
	if err = cmp.Or(told, err); err != nil {
		return err
	}
	t.kept.Done, t.ended = append(t.kept.Done, t.ended...), nil
	return t.save()
}

func (t *tour) progress(r explore.Result) {
	if time.Since(t.last) >= time.Second {
		t.last = time.Now()
		_, _ = fmt.Fprintf(t.stderr, "\r%d peers, %d faults: %d states, %d bad, %.0f a second ", r.Peers, r.Faults, r.States, r.Bad, float64(r.States)/r.Seconds)
	}
}

func (t *tour) tell(r explore.Result) error {
	slow := r.SlowTrace
	if r.Late == 0 {
		slow = nil
	}
	if r.SlowTrace = slow; t.flags.json {
		return json.NewEncoder(t.stdout).Encode(r)
	}
	begin := string(r.Begin)
	switch {
	case r.Seed != 0:
		begin = "drawn"
	case begin == "":
		begin = "settled"
	}
	whole := ""
	if r.Whole {
		whole = ", all there are"
	}
	_, err := fmt.Fprintf(t.stdout, "%d peers, %s, %d faults: %d states%s, %d not met before; %d bad, %d late; up to %.2f r on, one manager after %.2f r at most; %d machines; under way: %d intentions, %d confirmations; %d with a successor, %d with two managers; %.0f s\n",
		r.Peers, begin, r.Faults, r.States, whole, r.New, r.Bad, r.Late, r.Reach, r.Slowest, r.Machines,
		r.Intentions, r.Confirmations, r.Successors, r.Rivals, r.Seconds)
	if r.Bad > 0 && err == nil {
		_, err = fmt.Fprintln(t.stdout, "  "+strings.Join(r.Trace, "\n  "))
	}
	if r.Late > 0 && err == nil {
		_, err = fmt.Fprintln(t.stdout, "  "+strings.Join(slow, "\n  "))
	}
	return err
}

// totals is the last line.
type totals struct {
	States      int     `json:"states"` // different groups
	Visited     int     `json:"visited"`
	Transitions int     `json:"transitions"`
	Bad         int     `json:"bad"`
	Late        int     `json:"late"`
	Wall        float64 `json:"wall_s"`
	Memory      uint64  `json:"memory_bytes"` // taken from the system
}

func (t *tour) sum() totals {
	s := totals{Memory: t.kept.Memory}
	for _, r := range slices.Concat(t.kept.Done, t.ended) {
		s.States += r.New
		s.Visited += r.States
		s.Transitions += r.Transitions
		s.Bad += r.Bad
		s.Late += r.Late
		s.Wall += r.Seconds
	}
	s.Wall = round(s.Wall)
	return s
}

func (t *tour) summary() error { return json.NewEncoder(t.stdout).Encode(t.sum()) }

func (t *tour) resume() error {
	file, each := t.flags.state, t.flags.each()
	if t.kept.States = each; file == "" {
		return nil
	}
	own, err := ownStamp(kindExplore)
	if err != nil {
		return err
	}
	t.kept.stamp = own
	var kept toured
	found, err := recall(file, own, &kept)
	if err != nil {
		return err
	}
	if found {
		if err := kept.fits(t.flags); err != nil {
			return err
		}
		t.kept = kept
	}
	return t.save() // so that what cannot be kept is known before hours are played
}

// fits says why what was kept is not of the tour that f asks for.
func (s *toured) fits(f *exploreFlags) error {
	if err := s.check(); err != nil {
		return wrongState(f.state, err)
	}
	if s.States != f.each() {
		return fmt.Errorf("--state: %s is for %d states of each size, not %d: give --states %d, or another file", f.state, s.States, f.each(), s.States*len(f.peers))
	}
	for _, r := range s.Done {
		if !slices.Contains(f.peers, r.Peers) {
			return fmt.Errorf("--state: %s holds groups of %d too: add them to --peers, or give another file", f.state, r.Peers)
		}
	}
	return nil
}

// check says what cannot be: of each size that is done all explorations are.
func (s *toured) check() error {
	if s.States < 1 {
		return fmt.Errorf("%d states of each size", s.States)
	}
	done := map[int]int{}
	for _, r := range s.Done {
		if r.Peers < 2 || r.Peers > explore.MaxPeers || r.New < 0 || r.States < r.New || r.Transitions < 0 || r.Bad < 0 || r.Late < 0 || r.Bad+r.Late > r.States || r.Seconds < 0 {
			return fmt.Errorf("%d peers with %d new of %d states, %d bad", r.Peers, r.New, r.States, r.Bad)
		}
		done[r.Peers]++
	}
	for n := 2; n <= explore.MaxPeers; n++ {
		if all := len(explore.Campaign(n, s.States)); done[n] != 0 && done[n] != all {
			return fmt.Errorf("%d of %d explorations of groups of %d", done[n], all, n)
		}
	}
	return nil
}

func (t *tour) save() error {
	if t.flags.state == "" {
		return nil
	}
	return keep(t.flags.state, t.kept)
}
