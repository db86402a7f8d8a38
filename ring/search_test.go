package ring

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring/internal/ringmap"
)

func TestRingOfTwentyForms(t *testing.T) {
	w := newNetwork(t)
	w.grow(20)
	joined := w.now
	if !w.run(3*time.Second, w.agreed(20)) {
		t.Fatal("not everybody knows the ring 3 s after the last join")
	}
	t.Logf("known to all %v after the last join, %d messages with rows", w.now.Sub(joined), w.sent["ring-rows"])
}

func TestDepthsOfTwenty(t *testing.T) {
	w := newNetwork(t)
	w.grow(20)
	w.run(3*time.Second, w.agreed(20))
	var depths []int
	for i := range 20 {
		end := w.search("p000", theme(0), theme(i), 10*time.Second)
		if len(end.Found) != 1 || len(end.Missing) > 0 {
			t.Fatalf("%s: %+v", theme(i), end)
		}
		depths = append(depths, end.Hops)
	}
	slices.Sort(depths)
	if want := []int{0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10}; !slices.Equal(depths, want) {
		t.Errorf("depths are %v", depths)
	}
}

func TestAbsentThemeVisitsEverybodyOnce(t *testing.T) {
	for n := 1; n <= 24; n++ {
		w := newNetwork(t)
		w.grow(n)
		w.run(3*time.Second, w.agreed(n))
		before := w.sent["search"]
		end := w.search("p000", theme(0), "absent", 10*time.Second)
		arcs := min(n-1, 2)
		if len(end.Found)+len(end.Missing) > 0 || end.Hops != n/2 || end.Messages != n-1+arcs {
			t.Errorf("N=%d: %+v", n, end)
		}
		if sent := w.sent["search"] - before; sent != n-1 {
			t.Errorf("N=%d: %d forwards", n, sent)
		}
	}
}

func TestAllGroups(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 12} {
		w := newNetwork(t)
		w.grow(n)
		w.run(3*time.Second, w.agreed(n))
		if end := w.search("p000", theme(0), "", 10*time.Second); len(end.Found) != n || len(end.Missing) > 0 || end.Hops != n/2 {
			t.Errorf("N=%d: %+v", n, end)
		}
	}
}

func TestOnePeerInManyGroups(t *testing.T) {
	w := newNetwork(t)
	w.add("solo")
	for i := range 6 {
		w.manage("solo", theme(i), "")
	}
	end := w.search("solo", theme(2), "absent", 10*time.Second)
	if end.Hops != 3 || end.Messages != 7 || len(end.Missing) > 0 {
		t.Errorf("%+v", end)
	}
}

func TestSilentGroupIsSkippedAndNamed(t *testing.T) {
	w := newNetwork(t)
	w.grow(8)
	w.run(3*time.Second, w.agreed(8))
	w.peers["p003"].down = true
	start := w.now
	if end := w.search("p000", theme(0), theme(5), 10*time.Second); len(end.Found) != 1 || w.now.Sub(start) > 2*time.Second {
		t.Errorf("one dead group: %+v after %v", end, w.now.Sub(start))
	}
	end := w.search("p000", theme(0), "absent", 2*time.Second)
	if !slices.Equal(end.Missing, []feedring.Theme{theme(3)}) {
		t.Errorf("missing %v", end.Missing)
	}
	if !w.run(6*refresh, func() bool { return len(w.peers["p000"].Live()) == 7 }) {
		t.Fatal("the dead group is still on the ring")
	}
	if end := w.search("p000", theme(0), "absent", 2*time.Second); len(end.Missing) > 0 {
		t.Errorf("a lost group counts as visited: %+v", end)
	}
	w.peers["p003"].down = false
	if !w.run(6*refresh, w.agreed(8)) {
		t.Error("a group that came back is not on the ring")
	}
}

func TestSecondaryAnswersForItsManager(t *testing.T) {
	w := newNetwork(t)
	w.grow(6)
	w.add("deputy")
	w.step("deputy", Meet{Peers: []feedring.PeerID{"p000"}})
	w.manage("p004", theme(4), "deputy")
	w.run(3*time.Second, w.agreed(6))
	w.peers["p004"].down = true
	end := w.search("p000", theme(0), theme(4), 10*time.Second)
	if len(end.Found) != 1 {
		t.Errorf("%+v", end)
	}
	end = w.search("p000", theme(0), "absent", 10*time.Second)
	if len(end.Missing) > 0 {
		t.Errorf("%+v", end)
	}
}

// Where an acknowledgement is lost the secondary gets the search as well as its
// manager. The outcome is the same: the same groups, hops and messages, once.
func TestLostAcknowledgementChangesNothing(t *testing.T) {
	w := newNetwork(t)
	w.grow(6)
	w.add("deputy")
	w.step("deputy", Meet{Peers: []feedring.PeerID{"p000"}})
	w.manage("p004", theme(4), "deputy")
	w.run(3*time.Second, w.agreed(6))
	for i, at := range []feedring.PeerID{"p000", "p001", "p002", "p003", "p004", "p005"} {
		for _, search := range []feedring.Theme{"absent", ""} {
			w.cut = nil
			want := w.search(at, theme(i), search, 10*time.Second)
			w.cut = func(l packet) bool { return l.from == "p004" && l.message.Verb() == "search-ack" }
			got := w.search(at, theme(i), search, 10*time.Second)
			w.run(2*time.Second, nil)
			want.ID = got.ID
			if !reflect.DeepEqual(got, want) || len(w.ended[got.ID]) != 1 {
				t.Errorf("%q at %s: %+v, want %+v", search, at, got, want)
			}
		}
	}
	if len(w.peers["deputy"].visits.seen) == 0 {
		t.Error("the secondary was never asked")
	}
}

// What still goes around of a search that has ended goes no farther than to its
// coordinator: that acknowledges it, and asks nobody after its final.
func TestEndedSearchGoesNoFarther(t *testing.T) {
	w := newNetwork(t)
	w.grow(6)
	for i := 1; i < 6; i++ { // the coordinator is on the way of each arc
		w.manage(feedring.PeerID(fmt.Sprintf("p%03d", i)), theme(i), "p000")
	}
	w.run(3*time.Second, w.agreed(6))
	var late []packet
	w.cut = func(l packet) bool {
		if s, is := l.message.(Search); is && s.Hop == 2 {
			late = append(late, l)
		}
		return false
	}
	w.search("p000", theme(0), "absent", 10*time.Second)
	if len(late) == 0 {
		t.Fatal("no search went on")
	}
	for _, l := range late {
		var sent []feedring.Verb
		w.cut = func(l packet) bool {
			switch l.message.(type) {
			case Search, SearchAck, FoundGroup, Exhausted:
				sent = append(sent, l.message.Verb())
			}
			return true
		}
		w.step("p000", Receive{From: l.from, Message: l.message})
		w.run(100*time.Millisecond, nil)
		if len(sent) != 1 || sent[0] != "search-ack" {
			t.Errorf("then it sends %v", sent)
		}
	}
}

// A peer that dies with a search in its hands takes the rest of the arc along;
// the coordinator asks for it directly.
func TestArcThatDies(t *testing.T) {
	w := newNetwork(t)
	w.grow(9)
	w.run(3*time.Second, w.agreed(9))
	victim := w.peers["p000"].peers(mustAfter(w.peers["p000"].ringMap.Order(), theme(0).Group()))[0]
	w.cut = func(l packet) bool {
		if l.from == victim && l.message.Verb() == "search" {
			w.peers[victim].down = true
		}
		return w.peers[victim].down && l.from == victim
	}
	order := w.peers["p000"].ringMap.Order()
	behind := mustAfter(order, mustAfter(order, theme(0).Group()))
	row, _, _ := w.peers["p000"].Row(behind)
	start := w.now
	end := w.search("p000", theme(0), row.Theme, 10*time.Second)
	if !w.peers[victim].down || len(end.Found) != 1 || w.now.Sub(start) > 2*time.Second {
		t.Errorf("%+v after %v", end, w.now.Sub(start))
	}
}

func mustAfter(o ringmap.Order, g feedring.GroupID) feedring.GroupID { n, _ := o.After(g); return n }

func TestPartitionHeals(t *testing.T) {
	w := newNetwork(t)
	w.grow(8)
	w.run(3*time.Second, w.agreed(8))
	cut := func(l packet) bool { return (l.from < "p004") != (l.to < "p004") }
	heal := w.partition(cut)
	if !w.run(10*refresh, w.agreed(4)) {
		t.Fatal("the halves do not see each other lost")
	}
	heal()
	if !w.run(10*refresh, w.agreed(8)) {
		t.Fatal("the halves do not find each other again")
	}
}

// A group that was torn when all of it died shows a row of each part. They are
// lost together, not one 3r after the other.
func TestTornGroupIsLostAtOnce(t *testing.T) {
	for _, test := range []struct {
		name  string
		lives feedring.PeerID
		want  int
	}{{"nobody lives", "", 5}, {"the manager of the smaller part lives", "p005", 6}} {
		w := newNetwork(t)
		w.grow(5)
		w.add("p005")
		w.add("p006")
		w.manage("p006", theme(5), "p004") // acknowledged
		w.step("p005", Meet{Peers: []feedring.PeerID{"p000"}})
		w.run(3*time.Second, w.agreed(6))
		w.manageTerm("p005", theme(5), "", 2)
		w.run(3*time.Second, nil)
		for _, name := range []feedring.PeerID{"p004", "p005", "p006"} {
			w.peers[name].down = name != test.lives
		}
		w.run(5*refresh, nil)
		// The group of p004 is lost as well.
		if live := w.peers["p000"].Live(); len(live) != test.want-1 {
			t.Errorf("%s: %d groups after 5r, want %d", test.name, len(live), test.want-1)
		}
	}
}

func TestLossyNetwork(t *testing.T) {
	w := newNetwork(t)
	w.grow(12)
	w.run(3*time.Second, w.agreed(12))
	w.lose = 0.15
	for i := range 40 {
		end := w.search("p000", theme(0), theme(i%12), 10*time.Second)
		if len(end.Found) != 1 {
			t.Errorf("%s: %+v", theme(i%12), end)
		}
		if end := w.search("p003", theme(3), "absent", 10*time.Second); len(end.Missing) > 0 {
			t.Errorf("absent: %+v", end)
		}
	}
	w.lose = 0
	w.run(15*time.Second, nil)
	for _, name := range w.names {
		if s, h := w.peers[name].Searching(); s+h > 0 {
			t.Errorf("%s keeps %d searches and %d hops", name, s, h)
		}
	}
}

func TestClone(t *testing.T) {
	w := newNetwork(t)
	w.grow(5)
	w.run(3*time.Second, w.agreed(5))
	n := w.peers["p002"]
	c := n.Clone(n)
	if c.Fingerprint() != n.Fingerprint() {
		t.Fatal("a clone has another fingerprint")
	}
	for range 20 {
		at := n.Deadline()
		if c.Deadline() != at {
			t.Fatal("a clone has another deadline")
		}
		n.Step(at, Tick{})
		if c.Fingerprint() == n.Fingerprint() {
			t.Fatal("a step left no trace")
		}
		c.Step(at, Tick{})
		if c.Fingerprint() != n.Fingerprint() {
			t.Fatal("a clone went another way")
		}
	}
}
