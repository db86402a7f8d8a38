package peer

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// Twenty groups of one peer, joining one after the other, with the paper's
// routing: everybody knows the ring at once, and depths and messages are exact.
func TestRingOfTwenty(t *testing.T) {
	c := newCluster(t)
	c.cfg.Refresh, c.cfg.Routing = 2*time.Second, RingOnly
	theme := func(i int) feedring.Theme { return feedring.Theme(fmt.Sprintf("theme%02d", i)) }
	for i := range 20 {
		if i == 0 {
			c.start(peerName(i))
		} else {
			c.start(peerName(i), peerName(0))
		}
		c.publish(peerName(i), fmt.Sprintf("%s=%s", theme(i), theme(i)))
		c.run(300*time.Millisecond, nil)
	}
	start := c.now
	if !c.run(3*time.Second, func() bool { return c.agree(20) }) {
		t.Fatal("not everybody knows the ring 3 s after the last join")
	}
	t.Logf("known to all %v after the last join", c.now.Sub(start))
	var depths []int
	for i := range 20 {
		f := c.ask(peerName(0), feedring.Query{Theme: theme(i)}, 10*time.Second)
		if f.Status != feedring.Answered || len(f.Grants) != 1 {
			t.Fatalf("%s: %s", theme(i), finalText(f))
		}
		depths = append(depths, f.Hops)
	}
	slices.Sort(depths)
	if want := []int{0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10}; !slices.Equal(depths, want) {
		t.Errorf("depths are %v", depths)
	}
	if f := c.ask(peerName(0), feedring.Query{Theme: "absent"}, 10*time.Second); f.Status != feedring.Unsatisfied || f.Messages != 21 || f.Hops != 10 {
		t.Errorf("absent: %s", finalText(f))
	}
	if f := c.ask(peerName(7), feedring.Query{}, 10*time.Second); f.Status != feedring.Answered || len(f.Grants) != 20 || f.Hops != 10 {
		t.Errorf("all groups: %s", finalText(f))
	}
}

// Connections to the managers beside this peer's own entries are kept, and given back
// with the seat.
func TestRingNeighboursAreProtected(t *testing.T) {
	c := newCluster(t)
	for i := range 6 {
		if i == 0 {
			c.start(peerName(i))
		} else {
			c.start(peerName(i), peerName(0))
		}
		c.publish(peerName(i), fmt.Sprintf("theme%d=p%d.org", i, i))
	}
	if !c.run(3*time.Second, func() bool { return c.agree(6) }) {
		t.Fatal("they do not see each other")
	}
	live := c.peers[peerName(0)].ring.Live()
	for i, row := range live {
		want := []feedring.PeerID{live[(i+5)%6].Term.Claimant, live[(i+1)%6].Term.Claimant}
		slices.Sort(want)
		if got := c.peers[row.Term.Claimant].kept[feedring.GroupID{}]; !slices.Equal(got, want) {
			t.Errorf("%s protects %v, beside it are %v", row.Term.Claimant, got, want)
		}
	}
	last := live[0].Term.Claimant
	c.publish(last)
	c.run(2*time.Second, nil)
	if kept := c.peers[last].kept; len(kept[feedring.GroupID{}]) > 0 {
		t.Errorf("without a seat it protects %v", kept)
	}
	if got := c.peers[live[1].Term.Claimant].kept[feedring.GroupID{}]; slices.Contains(got, last) {
		t.Errorf("%v are still protected", got)
	}
}

// A clone goes the same way as the machine it was made of.
func TestClone(t *testing.T) {
	c := newCluster(t)
	c.start("a")
	c.publish("a", "news=lemonde.fr")
	c.start("b", "a")
	c.publish("b", "news=bbc.co.uk", "sport=equipe.fr")
	c.run(10*time.Second, nil)
	m := c.peers["b"].Machine
	m.Step(c.now, Ask{Stream: 1, Client: "k", ID: feedring.QueryID{1}, Query: feedring.Query{Theme: "absent"}, Within: time.Second})
	clone := m.Clone()
	for range 30 {
		if clone.Fingerprint() != m.Fingerprint() {
			t.Fatal("a clone went another way")
		}
		at := m.Deadline()
		if got, want := fmt.Sprint(clone.Step(at, Tick{})), fmt.Sprint(m.Step(at, Tick{})); len(got) != len(want) {
			t.Fatalf("a clone does\n%s\nfor\n%s", got, want)
		}
	}
}
