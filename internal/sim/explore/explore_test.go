package explore

import (
	"encoding/json"
	"flag"
	"strings"
	"testing"
)

var flagStates = flag.Int("states", 20_000, "how many states TestExplore visits, in groups of 2 to 5 peers; ten million before a release")

// TestExplore finds no state of the machine that ships from which the group,
// without further faults, never gets one manager that all follow.
func TestExplore(t *testing.T) {
	total := 0
	for peers := 2; peers <= MaxPeers; peers++ {
		for _, cfg := range Campaign(peers, *flagStates/(MaxPeers-1)) {
			if cfg.Begin == Torn && peers > 3 && *flagStates < 1_000_000 {
				continue // many beginnings, each of which takes its time
			}
			res, err := Run(Group{}, cfg)
			if err != nil {
				t.Fatal(err)
			}
			total += res.States
			trace := strings.Join(res.Trace, "\n")
			if res.Trace = nil; res.Slowest < 4 {
				res.SlowTrace = nil
			}
			line, err := json.Marshal(res)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(string(line))
			if res.Bad > 0 {
				t.Errorf("%d peers, %d faults: %d states of %d are bad\n%s", res.Peers, res.Faults, res.Bad, res.States, trace)
			}
		}
	}
	t.Logf("%d states", total)
}
