package holes

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

var (
	search = flag.Uint64("search", 0, "look for seeds that find the holes where the known ones do not, this many at most, and write testdata/found.txt")
	only   = flag.String("hole", "", "of holes whose name matches this expression")
	all    = flag.Bool("all", false, "every hole, not only each tenth: minutes, which building takes")
)

// TestHoles: each hole is found by its seed, in which the product as it is
// violates nothing. Almost all of the time goes into building.
func TestHoles(t *testing.T) {
	holes, known := load(t), readTable(t)
	wanted := regexp.MustCompile(*only)
	base := &clean{player: build(t, hole{name: "none"}), runs: map[run]found{}}
	var mu sync.Mutex
	t.Run("all", func(t *testing.T) {
		for i, h := range holes {
			if !wanted.MatchString(h.name) || !*all && *search == 0 && *only == "" && i%10 != 0 {
				continue
			}
			was := known[h.name]
			if was.Seed == 0 && *search == 0 {
				continue // see TestEachHoleIsFound
			}
			t.Run(h.name, func(t *testing.T) {
				t.Parallel()
				if *search > 0 {
					f := h.search(t, base, build(t, h), was, *search)
					t.Logf("%s: seed %d: %s", h.name, f.Seed, f.Text)
					mu.Lock()
					defer mu.Unlock()
					known[h.name] = f
					writeTable(t, holes, known)
					return
				}
				h.replay(t, base, was)
			})
		}
	})
	for _, h := range holes {
		if *search > 0 && wanted.MatchString(h.name) && known[h.name].Seed == 0 {
			t.Errorf("hole %s (%s) is not found in %d seeds", h.name, h.title, *search)
		}
	}
}

// replay plays the seed that found a hole.
func (h hole) replay(t *testing.T, base *clean, was found) {
	t.Helper()
	switch f := play(t, build(t, h), was.Seed, 1, h); {
	case f.Seed == 0:
		t.Errorf("seed %d does not find hole %s any more (%s): search with -search 10000 -hole '^%s$'", was.Seed, h.name, h.title, h.name)
	case f.Invariant != was.Invariant:
		t.Errorf("seed %d finds hole %s by %s, not by %s: %s", was.Seed, h.name, f.Invariant, was.Invariant, f.Text)
	case !base.holds(t, run{h.script, was.Seed}):
		t.Errorf("seed %d finds hole %s, but violates an invariant without it as well", was.Seed, h.name)
	}
}

// clean is the product without a hole.
type clean struct {
	player string
	mu     sync.Mutex
	runs   map[run]found
}

// run is what is played: a seed of a script, or of faults by chance.
type run struct {
	script string
	seed   uint64
}

// holds reports whether a run violates nothing without a hole.
func (c *clean) holds(t *testing.T, r run) bool {
	t.Helper()
	c.mu.Lock()
	f, known := c.runs[r]
	c.mu.Unlock()
	if !known {
		f = play(t, c.player, r.seed, 1, hole{script: r.script})
		c.mu.Lock()
		defer c.mu.Unlock()
		c.runs[r] = f
	}
	return f.Seed == 0
}

// TestEachHoleIsFound: of each hole a seed is known that finds it.
func TestEachHoleIsFound(t *testing.T) {
	known := readTable(t)
	for _, h := range load(t) {
		if known[h.name].Seed == 0 && *search == 0 {
			t.Errorf("no seed is known to find hole %s: search with -search 10000 -hole '^%s$'", h.name, h.name)
		}
	}
}

// TestHolesBreakTheProtocol: each hole breaks a sentence that docs/protocol.md
// has (or docs/architecture.md, of how machines are driven), and its edits fit
// the product as it is.
func TestHolesBreakTheProtocol(t *testing.T) {
	protocol := ""
	for _, name := range []string{"protocol.md", "architecture.md"} {
		text, err := os.ReadFile(filepath.Join(root(t), "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		protocol += strings.Join(strings.Fields(string(text)), " ")
	}
	for _, h := range load(t) {
		if !strings.Contains(protocol, strings.Join(strings.Fields(h.breaks), " ")) {
			t.Errorf("hole %s: the protocol does not say %q", h.name, h.breaks)
		}
		if _, err := h.apply(root(t)); err != nil {
			t.Error(err)
		}
	}
}
