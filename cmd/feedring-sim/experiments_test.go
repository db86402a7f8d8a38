package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// play runs a command line; its stdout must be the same each time.
func play(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestTables(t *testing.T) {
	code, stdout, _ := play(t, "scale", "--only", "search", "--groups", "4")
	if code != 0 || !strings.Contains(stdout, "The cost of a search") || !strings.Contains(stdout, "paper N+n+4") || strings.Contains(stdout, "half-life") {
		t.Errorf("%d %s", code, stdout)
	}
	code, stdout, _ = play(t, "scale", "--only", "churn", "--half-lives", "5m", "--length", "5m")
	if code != 0 || strings.Contains(stdout, "search") || !strings.Contains(stdout, "half-life") {
		t.Errorf("%d %s", code, stdout)
	}
}

// Each experiment that takes latencies gives another result with them, and the same one
// each time.
func TestLatencies(t *testing.T) {
	for _, args := range [][]string{
		{"paper", "--short"},
		{"compare", "--measured", "2", "--attached", "1"},
		{"exchange", "--nodes", "30", "--interval", "1h", "--long", "1h", "--short", "2h"},
		{"scale", "--only", "search", "--groups", "4"},
		{"scale", "--only", "churn", "--half-lives", "5m", "--length", "5m"},
	} {
		_, bare, _ := play(t, append(args, "--json")...)
		far := append(args, "--latencies", "planetlab", "--json")
		code, first, stderr := play(t, far...)
		_, second, _ := play(t, far...)
		if code != 0 || first == bare || first != second {
			t.Errorf("%v: exit code %d, %s; as without: %v, the same again: %v", args, code, stderr, first == bare, first == second)
		}
	}
}

func TestOneNetwork(t *testing.T) {
	code, stdout, stderr := play(t, "scale", "--peers", "25", "--groups", "3", "--virtual", "30s", "--json")
	var result scaleResult
	if err := json.Unmarshal([]byte(stdout), &result); err != nil || code != 0 || result.Size == nil {
		t.Fatalf("%d %v %s", code, err, stderr)
	}
	r := result.Size
	if r.Managers != 3 || r.Inside != 6 || r.PerSecond < 0.3 || r.PerSecond > 3 || r.Steps < uint64(r.Messages) || r.Heap < 100_000 {
		t.Errorf("%+v", r)
	}
	if code, _, stderr = play(t, "scale", "--peers", "2", "--groups", "3"); code != 2 || !strings.Contains(stderr, "a peer for each") {
		t.Errorf("%d %s", code, stderr)
	}
}

func TestWrongUsageOfExperiments(t *testing.T) {
	files := []string{"--sites", "x", "--documents", "x", "--captures", "x"}
	for _, args := range [][]string{
		{"paper", "--plot", "it.png"}, {"paper", "--capacity", "0"}, {"paper", "--groups", "81"}, {"paper", "--cycle", "-1s"},
		{"scale", "surplus"}, {"scale", "--only", "ring"}, {"scale", "--groups", "0"}, {"scale", "--groups", "-3"}, {"scale", "--half-lives", "0s"}, {"scale", "--length", "0s"},
		{"scale", "--peers", "10"}, {"scale", "--peers", "-5", "--groups", "2"}, {"scale", "--peers", "0", "--groups", "2"}, {"scale", "--peers", "5", "--groups", "0"},
		{"scale", "--peers", "1", "--groups", "2"}, {"scale", "--peers", "10", "--groups", "2,3"}, {"scale", "--peers", "10", "--groups", "2", "--virtual", "0s"},
		{"scale", "--peers", "10", "--groups", "2", "--plot", "it.svg"}, {"scale", "--peers", "10", "--groups", "2", "--only", "churn"}, {"scale", "--virtual", "1m"},
		{"compare", "--measured", "many"}, {"compare", "--measured", "-1"}, {"compare", "--measured", "1"}, {"compare", "--attached", "-10"}, {"compare", "--attached", "10,0"},
		{"policies", "--looks", "-1"}, {"policies", "--looks", "0"}, {"policies", "--looks", "1000,1000000000"},
		{"policies", "--readers", "many"}, {"policies", "--readers", "zipf", "--trace", "paper"}, {"policies", "--readers", "zipf", "--captures", "x"}, {"policies", "--trace", "real"}, {"policies", "--trace", ""}, {"policies", "--trace", "paper", "--captures", "x"}, {"policies", "--seeds", "2"},
		{"policies", "--trace", "paper", "--seeds", "0"}, {"policies", "--trace", "paper", "--seeds", "1001"}, {"policies", "--trace", "paper", "--looks", "0"},
		{"paper", "--latencies", "king"}, {"compare", "--latencies", "king"}, {"scale", "--latencies", "king"}, {"exchange", "--latencies", "king"},
		{"scale", "--peers", "10", "--groups", "2", "--latencies", "planetlab"}, {"locality", "--fetchers", "0"}, {"locality", "--places", "200"},
		{"exchange", "--nodes", "1"}, {"exchange", "--interval", "1s"},
		{"promises", "--only", "all"}, {"promises", "--only", ""}, {"promises", "--refreshes", "-1"}, {"promises", "--refreshes", "1"}, {"promises", "--queries", "-1"},
		{"smallweb"}, {"smallweb", "--sites", "x"}, append([]string{"smallweb", "--most", "-1"}, files...), append([]string{"smallweb", "--conditional", "NaN"}, files...),
		{"survey"}, {"survey", "--documents", "x"}, {"survey", "--captures", "x"}, {"survey", "--documents", "x", "--captures", "x", "--looks", "3"},
	} {
		if code, stdout, stderr := play(t, args...); code != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit code %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

// A picture that cannot be written is refused before anything is played, by each
// command that draws.
func TestPictureThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	directory := filepath.Join(dir, "directory.svg")
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	drawing := 0
	for _, cmd := range rootCommand(io.Discard, io.Discard).Commands() {
		if cmd.Flags().Lookup("plot") == nil {
			continue
		}
		drawing++
		for _, file := range []string{filepath.Join(dir, "missing", "x.svg"), directory} {
			args := []string{cmd.Name(), "--plot", file}
			switch cmd.Name() {
			case "smallweb":
				args = append(args, "--sites", "x", "--documents", "x", "--captures", "x")
			case "survey":
				args = append(args, "--documents", "x", "--captures", "x")
			}
			if code, stdout, stderr := play(t, args...); code != exitFailure || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "--plot "+file+" cannot be written") {
				t.Errorf("%v: exit code %d, %q, %q", args, code, stdout, stderr)
			}
		}
	}
	if drawing != 8 {
		t.Errorf("%d commands draw", drawing)
	}
}

// That a picture can be written is found out without a trace.
func TestWritable(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there.svg")
	if err := os.WriteFile(there, []byte("a picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{there, filepath.Join(dir, "new.svg")} {
		if err := writable(name); err != nil {
			t.Error(err)
		}
	}
	if data, err := os.ReadFile(there); err != nil || string(data) != "a picture" {
		t.Errorf("what was there became %q, %v", data, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v are left, %v", files, err)
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

// A result that nobody could read is a failure; what can be had of it is.
func TestOutputThatFails(t *testing.T) {
	for _, flags := range [][]string{nil, {"--json"}} {
		svg := filepath.Join(t.TempDir(), "it.svg")
		var stderr bytes.Buffer
		code := run(append([]string{"scale", "--only", "search", "--groups", "1,4", "--plot", svg}, flags...), full{}, &stderr)
		if code != exitFailure || !strings.Contains(stderr.String(), "no room") {
			t.Errorf("%v: exit code %d, %q", flags, code, stderr.String())
		}
		if _, err := os.Stat(svg); err != nil {
			t.Error(err)
		}
	}
}

func TestNumbersHaveThreeDigits(t *testing.T) {
	for v, want := range map[float64]string{3: "3", 0.625: "0.62", 12.34: "12.3", 1234.5: "1234", 0.0012: "0.0012"} {
		if got := num(v); got != want {
			t.Errorf("%v is shown as %s, not %s", v, got, want)
		}
	}
}
