package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/feedring/feedring/internal/sim"
	"github.com/feedring/feedring/internal/sim/check"
)

// lastLine runs the command and reads its last line.
func lastLine(t *testing.T, args ...string) (line map[string]any, out string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(args, &stdout, &stderr); code != 0 {
		t.Fatalf("%v: exit %d, %s%s", args, code, stdout.String(), stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &line); err != nil {
		t.Fatalf("%q: %v", lines[len(lines)-1], err)
	}
	return line, stdout.String()
}

// The last line has these fields and no other, and its hash tells neither how
// many seeds were played at once nor whether the run was stopped between.
func TestFaultsCommand(t *testing.T) {
	whole, _ := lastLine(t, "faults", "--seeds", "2", "--from", "2", "--json")
	for _, field := range []string{"seeds", "violations", "virtual_s", "wall_s", "steps", "hash"} {
		if _, ok := whole[field]; !ok {
			t.Errorf("%s is missing", field)
		}
	}
	if len(whole) != 6 || whole["seeds"] != 2.0 || whole["violations"] != 0.0 || whole["virtual_s"].(float64) < 1200 {
		t.Errorf("%v", whole)
	}
	state := filepath.Join(t.TempDir(), "state")
	lastLine(t, "faults", "--seeds", "1", "--from", "2", "--state", state)
	rest, _ := lastLine(t, "faults", "--seeds", "2", "--from", "2", "--state", state, "--jobs", "2")
	if rest["hash"] != whole["hash"] || rest["seeds"] != 2.0 || rest["steps"] != whole["steps"] {
		t.Errorf("in two parts %v, at once %v", rest, whole)
	}
}

// A run that is interrupted keeps how far it came, and the same command goes on.
func TestInterrupted(t *testing.T) {
	f := &faultsFlags{seeds: 1000, from: 5, jobs: 2, keepGoing: 1, state: filepath.Join(t.TempDir(), "state")}
	c, err := resume(f)
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	c.stdout, c.progress = &stdout, newProgress(&stderr, f.seeds)
	interrupted := make(chan os.Signal, 1)
	interrupted <- os.Interrupt
	if err := c.play(interrupted); err != nil || !c.left() {
		t.Fatal("it was not stopped: ", err)
	}
	again, err := resume(f)
	if err != nil || !reflect.DeepEqual(again.saved, c.saved) || again.Next >= 5+1000 {
		t.Errorf("%+v goes on as %+v, %v", c.saved, again.saved, err)
	}
	if files, _ := filepath.Glob(f.state + "*"); len(files) != 1 {
		t.Errorf("%q are left", files)
	}
}

// Which seeds violate an invariant is known after a run went on, too.
func TestViolatingSeeds(t *testing.T) {
	f := &faultsFlags{seeds: 50, from: 1, jobs: 1, keepGoing: 20, state: filepath.Join(t.TempDir(), "state")}
	for _, upTo := range []uint64{10, 50} {
		c, err := resume(f)
		if err != nil {
			t.Fatal(err)
		}
		for c.Next <= upTo {
			o := sim.Outcome{Seed: c.Next}
			if o.Seed == 7 || o.Seed == 31 {
				o.Violation = &check.Violation{}
			}
			c.add(o)
		}
		if err := c.save(); err != nil {
			t.Fatal(err)
		}
	}
	code, _, stderr := play(t, "faults", "--seeds", "50", "--state", f.state)
	if code != 1 || !strings.HasSuffix(stderr, "2 of 50 seeds violate an invariant: 7, 31\n") {
		t.Errorf("exit %d, %q", code, stderr)
	}
	many := saved{Violations: 102, Violating: []uint64{1, 2}, Seeds: 200}
	if err := many.violated(); !strings.HasSuffix(err.Error(), "invariant: 1, 2 and 100 more") {
		t.Error(err)
	}
}

func TestWrongUsage(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	for _, args := range [][]string{
		{"faults", "--seeds", "0"}, {"faults", "--seeds", "2", "--trace"}, {"faults", "--nonsense"}, {"faults", "more"},
		{"faults", "--from", "18446744073709551615", "--seeds", "2"}, {"faults", "--jobs", "1000000000"}, {"faults", "--keep-going", "-1"},
		{"faults", "--seeds", "1", "--trace", "--state", state}, {"faults", "--seeds", "1", "--trace", "--json"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(args, &stdout, &stderr); code != 2 || stdout.Len() != 0 || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%v: exit %d, %q", args, code, stderr.String())
		}
	}
	if _, err := os.Stat(state); err == nil {
		t.Error("wrong usage left a state")
	}
}

// A run that met as many violations as it was to says that seeds are left, and
// how they are played.
func TestStoppedEarly(t *testing.T) {
	file := stateOf(t, kindFaults, `"from":1,"next":3,"seeds":2,"violations":2,"violating":[1,2]`)
	code, _, stderr := play(t, "faults", "--seeds", "60", "--keep-going", "2", "--state", file)
	if code != exitBroken || !strings.HasSuffix(stderr, "2 of 2 seeds violate an invariant: 1, 2; stopped early, before seed 3, by --keep-going 2: the same command with --keep-going 3 or more goes on\n") {
		t.Errorf("exit %d, %q", code, stderr)
	}
	f := &faultsFlags{from: 1, seeds: 60, peers: 50}
	if got := f.goFurther(&saved{Next: 3}); got != "--from 3 --seeds 58 --peers 50 plays what is left" {
		t.Error(got)
	}
}

// Numbers that are none are told in words of the command line.
func TestNoNumber(t *testing.T) {
	for want, args := range map[string][]string{
		`--seeds takes a whole number from 1 on, not "-1"`:                                        {"faults", "--seeds", "-1"},
		`--seeds takes a whole number from 1 on, not "abc"`:                                       {"faults", "--seeds", "abc"},
		`--seeds takes a whole number from 1 on that is not so large, not "99999999999999999999"`: {"faults", "--seeds", "99999999999999999999"},
		`--from takes a whole number from 0 on, not "-1"`:                                         {"faults", "--from", "-1"},
		`--jobs takes a whole number, not "two"`:                                                  {"faults", "--jobs", "two"},
		`--peers takes whole numbers with commas between, not "2,x"`:                              {"explore", "--peers", "2,x"},
		"--peers 0: give 1 to 1000000":                                                            {"scale", "--peers", "0"},
		"--peers -3: give 1 to 1000000":                                                           {"scale", "--peers", "-3"},
	} {
		if code, _, stderr := play(t, args...); code != exitUsage || stderr != "feedring-sim: "+want+"\n" {
			t.Errorf("%v: exit %d, %q", args, code, stderr)
		}
	}
}

// A violation is told by the exit code whatever fails beside it, and whatever
// fails without one by another.
func TestExitCodes(t *testing.T) {
	state := func(violation string) string {
		return stateOf(t, kindFaults, `"from":1,"next":3,"seeds":2,`+violation)
	}
	for want, file := range map[int]string{exitBroken: state(`"violations":1,"violating":[2]`), exitFailure: state(`"violations":0`)} {
		var stderr bytes.Buffer
		code := run([]string{"faults", "--seeds", "2", "--state", file}, full{}, &stderr)
		if code != want || !strings.Contains(stderr.String(), "no room") || strings.Contains(stderr.String(), "violate") != (want == exitBroken) {
			t.Errorf("exit %d, not %d: %q", code, want, stderr.String())
		}
	}
	for _, command := range []string{"faults", "explore", "promises"} {
		if code, stdout, _ := play(t, command, "--help"); code != 0 || !strings.Contains(stdout, exits) {
			t.Errorf("%s --help: exit %d, %s", command, code, stdout)
		}
	}
}
