//go:build !race

package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/feedring/feedring/internal/sim/experiment/policy"
)

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

// --short is figure 3 and nothing else, neither told nor drawn.
func TestShortPaper(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "it.svg")
	code, stdout, _ := play(t, "paper", "--short", "--capacity", "20", "--plot", svg)
	if code != 0 || !strings.Contains(stdout, "figure 3, central") || strings.Contains(stdout, "figure 4") {
		t.Errorf("%d %s", code, stdout)
	}
	drawn, err := os.ReadFile(svg)
	if err != nil || !bytes.Contains(drawn, []byte("Figure 3: ")) || bytes.Contains(drawn, []byte("Figure 4: ")) || bytes.Contains(drawn, []byte("breaks")) || bytes.Contains(drawn, []byte("another capacity")) {
		t.Errorf("%v: other panels than figure 3's", err)
	}
}

// The paper's numbers stand beside ours, in the table and in JSON; whether ours
// are near enough is not asked of other budgets than the paper's.
func TestPublishedPolicies(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "it.svg")
	args := []string{"policies", "--trace", "paper", "--seeds", "2", "--looks", "1,300", "--plot", svg}
	code, stdout, stderr := play(t, args...)
	if code != 0 || !regexp.MustCompile(`missing postings, minimum delay +11\.0 % +\d+\.\d % +not asked`).MatchString(stdout) || strings.Contains(stdout, " yes") {
		t.Fatalf("%d %s %s", code, stdout, stderr)
	}
	wellFormed(t, svg)
	code, stdout, _ = play(t, append(args, "--json")...)
	var r policy.PaperResult
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != 0 {
		t.Fatalf("%d %v", code, err)
	}
	if c := r.Printed[1]; c.Paper != 0.11 || c.Ours <= 0 || len(r.Rows) != 4 || r.Rows[3].Seed != 2 || r.Rows[3].Looks != 300 || len(r.Rows[3].Scores) != 4 {
		t.Errorf("%+v", r)
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

func TestTraceIsReadable(t *testing.T) {
	_, out := lastLine(t, "faults", "--seeds", "1", "--from", "2", "--trace")
	for _, want := range []string{"starts (life 1)", "is manager of theme", "-> ", " beacon ", "--- fault 1:", "--- faults stop"} {
		if !strings.Contains(out, want) {
			t.Errorf("the trace does not tell %q", want)
		}
	}
}

// A tour counts as many states as it was told, and what one that was stopped
// had done is not done again.
func TestExploreCommand(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	whole, out := lastLine(t, "explore", "--states", "600", "--peers", "2", "--json", "--state", state)
	if lines := strings.Count(out, "\n"); lines != 11 || whole["states"] != 600.0 || whole["bad"] != 0.0 || whole["memory_bytes"].(float64) == 0 {
		t.Errorf("%d lines, at last %v", lines, whole)
	}
	rest, out := lastLine(t, "explore", "--states", "1200", "--peers", "2,3", "--state", state)
	if lines := strings.Count(out, "\n"); lines != 11 || rest["states"] != 1200.0 || !strings.Contains(out, "3 peers, torn, 1 faults: ") || !strings.Contains(out, "3 peers, claiming, 0 faults: ") {
		t.Errorf("the rest: %d lines, at last %v\n%s", lines, rest, out)
	}
	for _, args := range [][]string{{"--peers", "1"}, {"--peers", "2,2"}, {"--states", "0"}, {"--peers", "2,3,6"}, {"--state", state}} {
		var stdout, stderr bytes.Buffer
		if code := run(append([]string{"explore"}, args...), &stdout, &stderr); code == 0 || stderr.Len() == 0 {
			t.Errorf("%v: exit %d, %q", args, code, stderr.String())
		}
	}
}
