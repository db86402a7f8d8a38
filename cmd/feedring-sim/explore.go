package main

import (
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
		Short: "walk through the interleavings of a small group's failover, looking for states that stay bad for ever",
		Example: `  feedring-sim explore --states 100000
  feedring-sim explore --states 10000000 --state explore.json   # may be stopped and started again`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return f.run(stdout, stderr) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.states, "states", 100_000, "how many different states, in equal parts for each size of the group")
	flags.IntSliceVar(&f.peers, "peers", []int{2, 3, 4, 5}, "sizes of the group")
	flags.BoolVar(&f.json, "json", false, "one JSON object for each exploration, instead of text")
	flags.StringVar(&f.state, "state", "", "file that keeps which sizes are done; the same program does not do them again")
	return cmd
}

func (f *exploreFlags) run(stdout, stderr io.Writer) error {
	if f.states < len(f.peers) || len(f.peers) == 0 {
		return errors.New("--states must be at least 1 for each size")
	}
	for i, n := range f.peers {
		if n < 2 || n > explore.MaxPeers || slices.Contains(f.peers[:i], n) {
			return fmt.Errorf("--peers: give sizes from 2 to %d, each once", explore.MaxPeers)
		}
	}
	debug.SetGCPercent(200) // most of what is made goes at once
	t := &tour{flags: f, stdout: stdout, stderr: stderr}
	if err := t.resume(); err != nil {
		return failure{err}
	}
	for _, n := range f.peers {
		if err := t.explore(n, f.states/len(f.peers)); err != nil {
			return failure{err}
		}
	}
	if err := t.summary(); err != nil {
		return failure{err}
	}
	if bad := t.sum().Bad; bad > 0 {
		return failure{fmt.Errorf("%d states stay bad for ever", bad)}
	}
	return nil
}

// tour is explorations of groups of several sizes.
type tour struct {
	flags          *exploreFlags
	stdout, stderr io.Writer
	kept           toured
	last           time.Time // of progress
}

// toured is how far a tour came: Done are the explorations of whole sizes.
type toured struct {
	States int              `json:"states"` // of each size
	Done   []explore.Result `json:"done"`
	Memory uint64           `json:"memory_bytes"`
}

// explore explores groups of one size, unless that was done before.
func (t *tour) explore(peers, states int) error {
	if slices.ContainsFunc(t.kept.Done, func(r explore.Result) bool { return r.Peers == peers }) {
		return nil
	}
	var results []explore.Result
	var told error
	err := explore.RunCampaign(explore.Group{}, peers, states, t.progress, func(r explore.Result) {
		if err := t.tell(r); err != nil && told == nil {
			told = err
		}
		r.Trace, r.SlowTrace = nil, nil // they are told
		results = append(results, r)
	})
	if err = errors.Join(err, told); err != nil {
		return err
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.kept.Memory = max(t.kept.Memory, m.Sys)
	t.kept.States, t.kept.Done = states, append(t.kept.Done, results...)
	return t.save()
}

func (t *tour) progress(r explore.Result) {
	if time.Since(t.last) >= time.Second {
		t.last = time.Now()
		_, _ = fmt.Fprintf(t.stderr, "\r%d peers, %d faults: %d states, %d bad, %.0f a second ", r.Peers, r.Faults, r.States, r.Bad, float64(r.States)/r.Seconds)
	}
}

func (t *tour) tell(r explore.Result) error {
	if r.SlowTrace = nil; t.flags.json {
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
	_, err := fmt.Fprintf(t.stdout, "%d peers, %s, %d faults: %d states%s, %d not met before; %d bad; up to %.2f r on, one manager after %.2f r at most; %d machines; %.0f s\n",
		r.Peers, begin, r.Faults, r.States, whole, r.New, r.Bad, r.Reach, r.Slowest, r.Machines, r.Seconds)
	if r.Bad > 0 && err == nil {
		_, err = fmt.Fprintln(t.stdout, "  "+strings.Join(r.Trace, "\n  "))
	}
	return err
}

// totals is the last line.
type totals struct {
	States      int     `json:"states"` // different groups
	Visited     int     `json:"visited"`
	Transitions int     `json:"transitions"`
	Bad         int     `json:"bad"`
	Wall        float64 `json:"wall_s"`
	Memory      uint64  `json:"memory_bytes"` // taken from the system
}

func (t *tour) sum() totals {
	s := totals{Memory: t.kept.Memory}
	for _, r := range t.kept.Done {
		s.States += r.New
		s.Visited += r.States
		s.Transitions += r.Transitions
		s.Bad += r.Bad
		s.Wall += r.Seconds
	}
	s.Wall = round(s.Wall)
	return s
}

func (t *tour) summary() error { return json.NewEncoder(t.stdout).Encode(t.sum()) }

func (t *tour) resume() error {
	if t.flags.state == "" {
		return nil
	}
	data, err := os.ReadFile(t.flags.state)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, &t.kept)
	}
	if each := t.flags.states / len(t.flags.peers); err == nil && t.kept.States != each {
		err = fmt.Errorf("it is for %d states of each size, not %d: remove it, or give --states %d", t.kept.States, each, t.kept.States*len(t.flags.peers))
	}
	if err != nil {
		return fmt.Errorf("state %s: %w", t.flags.state, err)
	}
	return nil
}

func (t *tour) save() error {
	if t.flags.state == "" {
		return nil
	}
	return keep(t.flags.state, t.kept)
}
