package holes

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"
)

// found is what a player says: the first seed that violates an invariant; 0:
// none of those that it played.
type found struct {
	Seed            uint64
	Invariant, Text string
}

// patience is how long one seed may take: a hole may make a machine loop.
const patience = 2 * time.Minute

// play plays seeds with a player, as a hole needs it.
func play(t *testing.T, player string, from, seeds uint64, h hole) found {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience+time.Duration(seeds)*20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, player, "-from", strconv.FormatUint(from, 10),
		"-seeds", strconv.FormatUint(seeds, 10), "-script", h.script, "-twice="+strconv.FormatBool(h.twice()))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("playing seeds from %d on: %v", from, err)
	}
	var f found
	if err := json.Unmarshal(out, &f); err != nil {
		t.Fatalf("the player said %q: %v", out, err)
	}
	return f
}

// twice reports whether only a second run of a seed shows the hole.
func (h hole) twice() bool { return slices.Contains(h.expects, "D1") }

// search looks for the first seed up to most that finds a hole, and in which
// the product as it is violates nothing; the known one is tried first.
func (h hole) search(t *testing.T, clean *clean, player string, known found, most uint64) found {
	t.Helper()
	if known.Seed > 0 {
		f := play(t, player, known.Seed, 1, h)
		if f.Seed > 0 && slices.Contains(h.expects, f.Invariant) && clean.holds(t, run{h.script, f.Seed}) {
			return f
		}
	}
	for from := uint64(1); from <= most; {
		f := play(t, player, from, most-from+1, h)
		if f.Seed == 0 {
			break
		}
		if clean.holds(t, run{h.script, f.Seed}) && slices.Contains(h.expects, f.Invariant) {
			return f
		}
		t.Logf("%s: seed %d tells nothing: %s", h.name, f.Seed, f.Text)
		from = f.Seed + 1
	}
	return found{}
}
