//go:build !race

package sim

import (
	"bufio"
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"
)

var seeds = flag.Uint64("seeds", 60, "how many seeds TestFaults plays")

// The invariants hold in a few seeds; feedring-sim faults plays many. A seed uses
// one goroutine: the race detector has nothing to find, and takes ten times as
// long.
func TestFaults(t *testing.T) {
	n := *seeds
	if testing.Short() {
		n = min(n, 20)
	}
	open := map[uint64]bool{}
	for _, c := range corpus(t) {
		open[c.seed] = c.open != ""
	}
	judged := map[string]int{}
	for seed := range n {
		if !open[1+seed] {
			for check, times := range play(t, 1+seed).Judged {
				judged[check] += times
			}
		}
	}
	if n >= enough {
		bites(t, judged)
	}
}

// enough is how many seeds give each check something to look at.
const enough = 60

// bites: a check that has nothing to look at holds nothing.
func bites(t *testing.T, judged map[string]int) {
	t.Helper()
	for _, check := range []string{
		"takeover", "S3 of a manager that lives", "S3 of a manager that steps down", "replace", "balance", "share", "alternates", "missing",
		"missing of a final", "S8 of what a publisher was told", "S9 of what a row keeps silent", "L6 of a group that is gone",
		"fetchers", "whole answers", "enough alternates", "entries soon", "marks far back",
		"equal maps", "exchanges", "news of the ring", "patience with a coordinator", "shortcuts in vain",
	} {
		if judged[check] == 0 {
			t.Errorf("check %q never had anything to look at: %v", check, judged)
		}
	}
	t.Log(judged)
}

func play(t *testing.T, seed uint64) Outcome {
	t.Helper()
	o := Faults(seed, nil)
	if o.Violation != nil {
		t.Errorf("seed %d: %v\n  go run ./cmd/feedring-sim faults --from %d --seeds 1 --trace", seed, o.Violation, seed)
	} else if o.Faults < 15 || o.Virtual < troubled || o.Steps < fewSteps(seed) {
		t.Errorf("seed %d: only %d faults, %d steps in %v", seed, o.Faults, o.Steps, o.Virtual)
	}
	return o
}

// fewSteps is less than a seed takes: wide ones may be of one peer or two.
func fewSteps(seed uint64) uint64 {
	if Wide(seed) {
		return 500
	}
	return 10_000
}

// TestWide: what is particular to wide seeds happens in them, and only there.
func TestWide(t *testing.T) {
	happens := func(from, to uint64, wide bool) map[string]int {
		seen := map[string]int{}
		for seed := from; seed <= to; seed++ {
			if Wide(seed) != wide {
				continue
			}
			Faults(seed, func(line string) {
				for _, word := range []string{" is new, of ", "goes for good", "departs", "clock of", "bursts of loss", ": turn 0 of ", " refuses p"} {
					if strings.Contains(line, word) {
						seen[word]++
					}
				}
			})
		}
		return seen
	}
	wide, plain := happens(7, 18, true), happens(1, 3, false)
	if wide[" is new, of "] == 0 || wide["goes for good"] == 0 || wide["clock of"] == 0 || wide["bursts of loss"] == 0 || wide[": turn 0 of "] == 0 || wide[" refuses p"] == 0 {
		t.Errorf("in wide seeds there are %v", wide)
	}
	if plain[" is new, of "]+plain["clock of"]+plain[": turn 0 of "] != 0 || plain["goes for good"] != 0 || plain["departs"] == 0 {
		t.Errorf("in plain seeds there are %v", plain)
	}
}

// TestStores: what is particular to the stores of some wide seeds happens there, and
// only there.
func TestStores(t *testing.T) {
	seen := map[string]int{}
	for seed := uint64(37); seed <= 69; seed++ {
		Faults(seed, func(line string) {
			for _, word := range []string{"has its old store back", "fails, and keeps a part", "lost store and clock set back"} {
				if strings.Contains(line, word) {
					seen[word]++
					if !Stores(seed) {
						t.Errorf("seed %d: %s", seed, line)
					}
				}
			}
		})
	}
	if seen["has its old store back"] == 0 || seen["fails, and keeps a part"] == 0 || seen["lost store and clock set back"] == 0 {
		t.Errorf("there are %v", seen)
	}
}

// TestCorpus plays the seeds that once found something wrong. One that is open
// finds it still: when that is mended, its line must say so.
func TestCorpus(t *testing.T) {
	for _, c := range corpus(t) {
		if c.open == "" {
			play(t, c.seed)
			continue
		}
		if o := Faults(c.seed, nil); o.Violation == nil {
			t.Errorf("seed %d holds now: it is open no more", c.seed)
		} else if o.Violation.Invariant != c.open {
			t.Errorf("seed %d: %v", c.seed, o.Violation)
		}
	}
}

// known is a line of the corpus.
type known struct {
	seed uint64
	open string // the invariant that does not hold yet
}

// corpus reads testdata/seeds.txt: a seed, and why it is there.
func corpus(t *testing.T) []known {
	f, err := os.Open("testdata/seeds.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []known
	for lines := bufio.NewScanner(f); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		seed, err := strconv.ParseUint(words[0], 10, 64)
		if err != nil || len(words) < 3 {
			t.Fatalf("testdata/seeds.txt: %q is not a seed and why it is there", lines.Text())
		}
		c := known{seed: seed}
		if words[1] == "open" {
			c.open = strings.TrimSuffix(words[2], ":")
		}
		all = append(all, c)
	}
	return all
}
