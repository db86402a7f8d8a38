package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
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

func TestExperimentCommands(t *testing.T) {
	for _, args := range [][]string{
		{"paper", "--short", "--capacity", "20"},
		{"scale", "--groups", "1,4", "--half-lives", "5m", "--length", "10m"},
		{"compare", "--measured", "5", "--attached", "10"},
		{"promises", "--short", "--only", "notifies,split"},
	} {
		svg := filepath.Join(t.TempDir(), "it.svg")
		code, stdout, stderr := play(t, append(args, "--json", "--plot", svg)...)
		if code != 0 {
			t.Fatalf("%v: %d %s", args, code, stderr)
		}
		var result map[string]any
		if err := json.Unmarshal([]byte(stdout), &result); err != nil || len(result) < 2 {
			t.Errorf("%v: %v in %.80s", args, err, stdout)
		}
		if !strings.Contains(stderr, "done") {
			t.Errorf("%v: no progress in %q", args, stderr)
		}
		wellFormed(t, svg)
	}
}

// wellFormed reads a picture through, and looks for a line in it.
func wellFormed(t *testing.T, name string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	paths := 0
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "path" {
			paths++
		}
	}
	if paths < 20 {
		t.Errorf("%s has %d paths", name, paths)
	}
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
	if code, _, stderr = play(t, "scale", "--peers", "2", "--groups", "3"); code != 1 || !strings.Contains(stderr, "a peer for each") {
		t.Errorf("%d %s", code, stderr)
	}
}

func TestWrongUsageOfExperiments(t *testing.T) {
	for _, args := range [][]string{
		{"paper", "--plot", "it.png"}, {"scale", "surplus"}, {"compare", "--measured", "many"}, {"scale", "--only", "ring"}, {"promises", "--only", "all"}, {"scale", "--peers", "10"},
	} {
		if code, _, stderr := play(t, args...); code != 2 || strings.Count(strings.TrimSpace(stderr), "\n") > 0 {
			t.Errorf("%v: exit code %d, %q", args, code, stderr)
		}
	}
	if code, _, stderr := play(t, "scale", "--groups", "0"); code != 1 || !strings.Contains(stderr, "at least 1") {
		t.Errorf("a ring of 0 groups: exit code %d, %q", code, stderr)
	}
}

func TestNum(t *testing.T) {
	for v, want := range map[float64]string{3: "3", 0.625: "0.62", 12.34: "12.3", 1234.5: "1234", 0.0012: "0.0012"} {
		if got := num(v); got != want {
			t.Errorf("%v is shown as %s, not %s", v, got, want)
		}
	}
}
