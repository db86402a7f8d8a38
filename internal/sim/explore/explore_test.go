//go:build !race

package explore

import (
	"encoding/json"
	"flag"
	"strings"
	"testing"
)

var flagStates = flag.Int("states", 10_000, "how many groups TestExplore looks for, of 2 to 5 peers; feedring-sim explore is for ten million")

// TestExplore finds no state of the machine that ships from which the group,
// without further faults, never gets one manager that all follow, or later than
// promised.
func TestExplore(t *testing.T) {
	states, counted := 0, 0
	for peers := 2; peers <= MaxPeers; peers++ {
		err := RunCampaign(Group{}, peers, *flagStates/(MaxPeers-1), Watch{Tell: func(res Result) {
			states, counted = states+res.States, counted+res.New
			trace, slow := strings.Join(res.Trace, "\n"), strings.Join(res.SlowTrace, "\n")
			res.Trace, res.SlowTrace = nil, nil
			line, err := json.Marshal(res)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(string(line))
			if res.Bad > 0 {
				t.Errorf("%d peers, %d faults: %d states of %d are bad\n%s", res.Peers, res.Faults, res.Bad, res.States, trace)
			}
			if res.Late > 0 {
				t.Errorf("%d peers, %d faults: %d states of %d are late\n%s", res.Peers, res.Faults, res.Late, res.States, slow)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d states, %d groups", states, counted)
	if counted != *flagStates {
		t.Errorf("%d groups were counted, not %d", counted, *flagStates)
	}
}
