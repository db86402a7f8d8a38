package experiment

import (
	"math/bits"
	"reflect"
	"testing"
	"time"
)

// What the model says of our groups, the machines do.
func TestModelOfGroupsHolds(t *testing.T) {
	cfg := DefaultCompare()
	for _, n := range []int{2, 5, 10} {
		got, err := measureGroup(cfg, n)
		if err != nil {
			t.Fatal(err)
		}
		model := Ours(cfg, n, 0)
		if got.Notifies != float64(n-1) || got.Polls != float64(n-1) || got.Notifies+got.Polls != model.Publisher || got.All != model.All {
			t.Errorf("%d peers: measured %+v, model %+v", n, got, model)
		}
		if least := 3 * cfg.Hop.Seconds(); got.LastAfter.P50 < least || got.LastAfter.P50 > least+0.1 {
			t.Errorf("%d peers: the last has an entry after %v s", n, got.LastAfter.P50)
		}
	}
}

func TestModelOfTheMeshHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("a group of 66 takes some seconds")
	}
	cfg := DefaultCompare()
	got, err := measureGroup(cfg, 66)
	if err != nil {
		t.Fatal(err)
	}
	model := Ours(cfg, 66, 0)
	if got.Notifies > meshMost || got.Polls > meshMost+2 || got.All > 1.1*model.All || got.All < 0.9*model.All {
		t.Errorf("measured %+v, model %+v", got, model)
	}
}

func TestReadersSpread(t *testing.T) {
	cfg := DefaultCompare()
	cfg.Hosts = 5
	got, err := measureAttach(cfg, 100)
	if err != nil {
		t.Fatal(err)
	}
	if got.Served != 100 || got.Mean != 20 || got.Most > 24 {
		t.Errorf("%+v", got)
	}
}

func TestFloodReachesAllOnce(t *testing.T) {
	f := newFlood(1, 1000)
	f.run()
	links := 0
	for i, of := range f.neighbours {
		links += len(of)
		if len(of) < fewestNeighbours-1 || len(of) > mostNeighbours || f.from[i] < 0 {
			t.Fatalf("node %d has %d neighbours, and the entry from %d", i, len(of), f.from[i])
		}
	}
	sum := 0
	for _, n := range f.sent {
		sum += n
	}
	// At most a check for each direction of each link but back, and a put for each node.
	if most := links - 999 + 999; sum > most || sum < most*9/10 {
		t.Errorf("%d calls on %d links", sum, links/2)
	}
}

func TestScribeTree(t *testing.T) {
	tr := newTree(1, 2000)
	sum := 0
	for i := range tr.ids {
		sum += tr.children[i]
		if d := tr.depth(int32(i)); d > 6 {
			t.Errorf("node %d is %d steps from the root", i, d)
		}
	}
	if sum != len(tr.ids)-1 {
		t.Errorf("%d children of %d nodes", sum, len(tr.ids))
	}
	for n := 1; n < 5; n++ {
		want := 0
		for _, id := range tr.ids {
			if bits.LeadingZeros64(id^tr.key)/digits >= n {
				want++
			}
		}
		if from, to := tr.with(n); int(to-from) != want {
			t.Errorf("%d nodes with %d digits in common, not %d", to-from, n, want)
		}
	}
}

func TestCompare(t *testing.T) {
	cfg := DefaultCompare()
	cfg.Readers, cfg.Peers, cfg.Measured, cfg.Attached, cfg.Hosts = []int{10, 1000}, []int{3, 200}, 3, []int{20}, 4
	got, err := Compare(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Groups) != 1 || len(got.Attached) != 1 || len(got.Rows) != 2 || len(got.Rows[1].Ours) != 2 {
		t.Fatalf("%+v", got)
	}
	row := got.Rows[1]
	if row.Polling.Origin != 2000 || row.FeedEx.Origin != 62.5 || row.Scribe.Origin != 4 || row.Ours[0].Load.Origin != 4 {
		t.Errorf("requests at the site: %+v", row)
	}
	if row.Ours[0].Load.Publisher != 4+334 || row.Ours[1].Load.Publisher != 20+5 {
		t.Errorf("ours: %+v", row.Ours)
	}
	if lag := cfg.Exchange.Seconds() / 1001; row.FeedEx.Lag < lag || row.FeedEx.Lag > lag+time.Second.Seconds() {
		t.Errorf("FeedEx's lag is %v", row.FeedEx.Lag)
	}
	again, _ := Compare(cfg, nil)
	if !reflect.DeepEqual(got, again) {
		t.Error("another result with the same seed")
	}
}

func TestCompareRefusesWhatCannotBe(t *testing.T) {
	cfg := DefaultCompare()
	cfg.Peers = []int{1}
	if _, err := Compare(cfg, nil); err == nil {
		t.Error("a group of one peer was accepted")
	}
}
