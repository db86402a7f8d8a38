package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// A tour counts as many states as it was told, and what one that was stopped
// had done is not done again.
func TestExploreCommand(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	whole, out := lastLine(t, "explore", "--states", "600", "--peers", "2", "--json", "--state", state)
	if lines := strings.Count(out, "\n"); lines != 7 || whole["states"] != 600.0 || whole["bad"] != 0.0 || whole["memory_bytes"].(float64) == 0 {
		t.Errorf("%d lines, at last %v", lines, whole)
	}
	rest, out := lastLine(t, "explore", "--states", "1200", "--peers", "2,3", "--state", state)
	if lines := strings.Count(out, "\n"); lines != 7 || rest["states"] != 1200.0 || !strings.Contains(out, "3 peers, torn, 1 faults: ") {
		t.Errorf("the rest: %d lines, at last %v\n%s", lines, rest, out)
	}
	for _, args := range [][]string{{"--peers", "1"}, {"--peers", "2,2"}, {"--states", "0"}, {"--peers", "2,3,6"}, {"--state", state}} {
		var stdout, stderr bytes.Buffer
		if code := run(append([]string{"explore"}, args...), &stdout, &stderr); code == 0 || stderr.Len() == 0 {
			t.Errorf("%v: exit %d, %q", args, code, stderr.String())
		}
	}
}
