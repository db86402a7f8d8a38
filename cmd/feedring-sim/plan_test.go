package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPlanTellsPeersAndWhatIsMissing(t *testing.T) {
	code, stdout, stderr := play(t, "plan", "--feeds", "1000000", "--interests", "10000000", "--readers", "500000")
	if code != 0 || stderr != "" {
		t.Fatal(code, stderr)
	}
	for _, want := range []string{
		"10 peers: processor binds", "69.3 %", "48.5 entries a second", "each other (9) takes 111111 interests more",
		"each of the 34 groups, beside these, at least: 2,", "GOMEMLIMIT=921MiB feedring serve --fleet-key fleet.key --interests 1000000 --public-url URL --join ADDR", "not for a fleet", "Not counted:",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	if _, help, _ := play(t, "plan", "--help"); !strings.Contains(help, "not for a fleet") || !strings.Contains(help, "Exit status") {
		t.Errorf("the help does not say what is missing:\n%s", help)
	}
	if _, stdout, _ = play(t, "plan", "--feeds", "100000", "--interests", "2000000"); !strings.Contains(stdout, "memory would be beyond what they have") {
		t.Error(stdout)
	}
	if _, stdout, _ = play(t, "plan", "--feeds", "10", "--interests", "10"); !strings.Contains(stdout, "2 peers: one would do") {
		t.Error(stdout)
	}
}

func TestPlanDividesThemes(t *testing.T) {
	args := []string{"plan", "--feeds", "1000000", "--interests", "10000", "--bandwidth", "400kbit", "--themes"}
	if code, stdout, stderr := play(t, append(args, "40")...); code != 0 || !strings.Contains(stdout, "divide the themes into 2 parts, with 2 peers") {
		t.Error(code, stdout, stderr)
	}
}

func TestPlanByCobrasRule(t *testing.T) {
	code, stdout, _ := play(t, "plan", "--feeds", "250000", "--interests", "40000000", "--rule", "cobra")
	if fields := strings.Join(strings.Fields(stdout), " "); code != 0 || !strings.Contains(fields, "Cobra's rule 1 28 28 57") || !strings.Contains(fields, "up to 64 tried 1 28 28 57") {
		t.Error(code, stdout)
	}
	// Counts above what is tried.
	if code, stdout, _ = play(t, "plan", "--feeds", "1000000", "--interests", "40000000", "--rule", "cobra"); code != 0 || !strings.Contains(stdout, "none") {
		t.Error(code, stdout)
	}
}

func TestPlanAsJSON(t *testing.T) {
	file := filepath.Join(t.TempDir(), "costs.json")
	if err := os.WriteFile(file, []byte(`{"most_interests": 4000000, "item_processor": 0.00002}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for rule, peers := range map[string]int{"feedring": 31, "cobra": 57} {
		code, stdout, stderr := play(t, "plan", "--feeds", "250000", "--interests", "40000000", "--costs", file, "--rule", rule, "--json")
		var r planResult
		if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != 0 || len(r.Costs) == 0 {
			t.Fatal(code, err, stderr)
		}
		if rule == "cobra" && (r.Plan != nil || r.Cobra.Rule.Hosts() != peers) || rule == "feedring" && (r.Cobra != nil || r.Plan.Peers != peers || len(r.Notes) == 0) {
			t.Errorf("%s: %s", rule, stdout)
		}
		given := 0
		for _, c := range r.Costs {
			if c.Source == "given" {
				given++
			}
		}
		if given != 2 {
			t.Errorf("%d costs are said to be given", given)
		}
	}
}

func TestWrongUsageOfPlan(t *testing.T) {
	for _, x := range [][2]string{
		{"--feeds", "0"}, {"--feeds", "-1"}, {"--feeds", "1e6"}, {"--feeds", "99999999999999999999"},
		{"--interests", "0"}, {"--interests", "-5"}, {"--interests", "900000000000"}, {"--interests", "9000000000000000000"},
		{"--memory", "1"}, {"--memory", "-1GiB"}, {"--memory", "1Gib"}, {"--memory", "GiB"}, {"--memory", "1e3GiB"}, {"--memory", "InfGiB"},
		{"--memory", "0GiB"}, {"--memory", "99999999999999999TiB"}, {"--memory", "1.2.3GiB"}, {"--memory", "10MB"}, {"--memory", "100Mbit"},
		{"--bandwidth", "100MB"}, {"--bandwidth", "0Mbit"}, {"--bandwidth", "100"},
		{"--cores", "0"}, {"--cores", "NaN"}, {"--cores", "two"}, {"--limit", "0"}, {"--poll", "0s"}, {"--poll", "-1s"},
		{"--readers", "-1"}, {"--themes", "-1"}, {"--themes", "1"}, {"--spare", "100%"}, {"--spare", "0.1"}, {"--rule", "ilp"},
	} {
		args := []string{"plan", "--feeds", "1000000", "--interests", "1000000", x[0], x[1]}
		if code, stdout, stderr := play(t, args...); code != exitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, x[0]) {
			t.Errorf("%v: exit code %d, %q, %q", args, code, stdout, stderr)
		}
	}
	for missing, args := range map[string][]string{"--feeds": {"plan", "--interests", "1"}, "--interests": {"plan", "--feeds", "1"}} {
		if code, stdout, stderr := play(t, args...); code != exitUsage || stdout != "" || !strings.Contains(stderr, missing+" 0") {
			t.Errorf("%v: exit code %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

func TestCostsThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"name": `{"peer_memroy": 1}`, "negative": `{"peer_memory": -1}`, "null": `{"peer_memory": null}`, "text": `{"peer_memory": "1"}`, "list": `[1]`, "empty": ``, "two": `{} {}`,
		"range": `{"peer_memory": 1e999}`, "large": `{"peer_memory": 1}` + strings.Repeat(" ", mostCosts),
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := play(t, "plan", "--feeds", "10", "--interests", "10", "--costs", file)
		if code != exitFailure || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "--costs "+file) {
			t.Errorf("%s: exit code %d, %q, %q", name, code, stdout, stderr)
		}
	}
	if code, _, stderr := play(t, "plan", "--feeds", "10", "--interests", "10", "--costs", dir); code != exitFailure || !strings.Contains(stderr, "--costs") {
		t.Error(code, stderr)
	}
}
