package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedring/feedring/internal/sim/explore"
)

// stateOf writes a file as the program that is tested would have kept it.
func stateOf(t *testing.T, kind, fields string) string {
	t.Helper()
	own, err := ownStamp(kind)
	if err != nil {
		t.Fatal(err)
	}
	return fileOf(t, fmt.Sprintf(`{"program":%q,"kind":%q,%s}`, own.Program, own.Kind, fields))
}

func fileOf(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// refused runs a command that must name the file, play nothing and leave the
// file as it is.
func refused(t *testing.T, file, want string, args ...string) {
	t.Helper()
	before, _ := os.ReadFile(file)
	code, stdout, stderr := play(t, append(args, "--state", file)...)
	if code != exitFailure || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, file) || !strings.Contains(stderr, want) {
		t.Errorf("%v with %s: exit %d, %q, %q", args, before, code, stdout, stderr)
	}
	if after, _ := os.ReadFile(file); string(after) != string(before) {
		t.Errorf("%v: the state %s became %s", args, before, after)
	}
}

// What another build counted is not counted as this one's, and neither is what
// does not say who counted it.
func TestStateOfAnotherBuild(t *testing.T) {
	const want = "was written by another build of feedring-sim: begin anew with another file"
	other := strings.Repeat("ab", 32)
	for _, fields := range []string{`"from":1,"next":2,"seeds":1`, `"from":1,"next":2,"seeds":1,"program":""`, `"from":1,"next":2,"seeds":1,"program":"` + other + `"`} {
		refused(t, fileOf(t, "{"+fields+"}"), want, "faults", "--seeds", "2")
	}
	refused(t, fileOf(t, `{"states":100,"done":[]}`), want, "explore", "--states", "100", "--peers", "2")
	refused(t, fileOf(t, `{"states":100,"done":[],"program":"`+other+`"}`), want, "explore", "--states", "100", "--peers", "2")
}

func TestStateSaysWhoWroteIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state")
	lastLine(t, "faults", "--seeds", "1", "--state", file)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var kept stamp
	if err := json.Unmarshal(data, &kept); err != nil || len(kept.Program) != 64 || kept.Kind != kindFaults {
		t.Errorf("%s: %v", data, err)
	}
	lastLine(t, "faults", "--seeds", "1", "--state", file)
	refused(t, file, "began with seed 1: give --from 1", "faults", "--from", "2")
}

func TestWrongState(t *testing.T) {
	const want = "begin anew with another file"
	for _, fields := range []string{
		`"from":1,"next":0`, `"from":1,"next":0,"seeds":18446744073709551615`, `"from":1,"next":3,"seeds":1`, `"from":1,"next":3,"seeds":2,"violations":-1`,
		`"from":1,"next":3,"seeds":2,"violations":3`, `"from":1,"next":3,"seeds":2,"wall_s":-1`, `"from":1,"next":3,"seeds":2,"violations":1`, `"from":1,"next":"three"`, `"from":1,"next":-3`,
	} {
		refused(t, stateOf(t, kindFaults, fields), want, "faults", "--seeds", "3")
	}
	for _, text := range []string{"", "no state", "[1]"} {
		refused(t, fileOf(t, text), want, "faults", "--seeds", "3")
		refused(t, fileOf(t, text), want, "explore", "--states", "100")
	}
	for _, fields := range []string{
		`"states":-1`, `"states":100,"done":[{"peers":7}]`, `"states":100,"done":[{"peers":2,"new":1,"states":1}]`, `"states":100,"done":[{"peers":2,"new":9,"states":1}]`,
	} {
		refused(t, stateOf(t, kindExplore, fields), want, "explore", "--states", "100", "--peers", "2")
	}
}

// Networks of different sizes are not summed, whatever the size that a state
// says, and what it lacks is not what the flags say.
func TestStateOfAnotherSize(t *testing.T) {
	const want = "is of networks of another size: give --peers "
	file := filepath.Join(t.TempDir(), "state")
	lastLine(t, "faults", "--seeds", "1", "--state", file)
	refused(t, file, want+"0, or another file", "faults", "--seeds", "2", "--peers", "50")
	refused(t, stateOf(t, kindFaults, `"from":1,"next":2,"seeds":1`), want+"0, or", "faults", "--seeds", "2", "--peers", "50")
	refused(t, stateOf(t, kindFaults, `"from":1,"next":2,"seeds":1,"peers":50`), want+"50, or", "faults", "--seeds", "2")
	refused(t, stateOf(t, kindFaults, `"next":1,"seeds":1`), "began with seed 0", "faults", "--seeds", "2")
	refused(t, stateOf(t, kindExplore, `"done":[]`), "begin anew with another file", "explore", "--states", "100", "--peers", "2")
}

// What one command kept is nothing that another goes on with.
func TestStateOfAnotherCommand(t *testing.T) {
	faults, tour := filepath.Join(t.TempDir(), "faults"), filepath.Join(t.TempDir(), "explore")
	lastLine(t, "faults", "--seeds", "1", "--state", faults)
	lastLine(t, "explore", "--states", "100", "--peers", "2", "--state", tour)
	refused(t, faults, `was written by "faults", not by "explore": give another file`, "explore", "--states", "100", "--peers", "2")
	refused(t, tour, `was written by "explore", not by "faults": give another file`, "faults", "--seeds", "1")
	refused(t, stateOf(t, "", `"from":1,"next":2,"seeds":1`), `was written by "", not by "faults"`, "faults", "--seeds", "2")
}

// A state that is further along than what is asked for would be told as if it
// had been asked for.
func TestStateHoldsMore(t *testing.T) {
	refused(t, stateOf(t, kindFaults, `"from":1,"next":9,"seeds":8`), "holds 8 seeds already: give --seeds 8 or more", "faults", "--seeds", "3")
	done := strings.TrimSuffix(strings.Repeat(`{"peers":3,"new":1,"states":1},`, len(explore.Campaign(3, 100))), ",")
	refused(t, stateOf(t, kindExplore, `"states":100,"done":[`+done+`]`), "holds groups of 3 too", "explore", "--states", "100", "--peers", "2")
	refused(t, stateOf(t, kindExplore, `"states":50`), "give --states 50", "explore", "--states", "100", "--peers", "2")
}

// What cannot be kept is known before anything is played.
func TestStateThatCannotBeKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "missing", "state")
	want := "--state " + file + " cannot be kept: create the directory " + filepath.Dir(file) + " first\n"
	refused(t, file, want, "faults", "--seeds", "1000000")
	refused(t, file, want, "explore", "--states", "1000000000")
}
