package peer

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

func numbered(n int) (id feedring.QueryID) {
	binary.BigEndian.PutUint32(id[:], uint32(n))
	return id
}

// TestAsksOfOneClient: what one client has open leaves room for others, and is
// given back when it is answered.
func TestAsksOfOneClient(t *testing.T) {
	c := newCluster(t)
	m := c.start("a", "nobody") // still starting: every question stays open
	ask := func(n int, client feedring.PeerID) (refused bool) {
		for _, out := range m.Step(c.now, Ask{Stream: uint64(n), Client: client, ID: numbered(n), Query: feedring.Query{Theme: "news"}, Within: time.Minute}) {
			if a, ok := out.(Answer); ok && a.Stream == uint64(n) {
				refused = true
			}
		}
		return refused
	}
	open := 0
	for n := range maxAsksOf + 100 {
		if !ask(n, "greedy") {
			open++
		}
	}
	if open != maxAsksOf {
		t.Errorf("one client has %d questions open", open)
	}
	for i := range 100 {
		if ask(maxAsks+i, feedring.PeerID(fmt.Sprint("k", i))) {
			t.Fatalf("another client was refused: %d", i)
		}
	}
	m.Step(c.now.Add(2*time.Minute), Tick{})
	if len(m.asks)+len(m.asksOf) != 0 {
		t.Errorf("%d questions and %d clients are still counted", len(m.asks), len(m.asksOf))
	}
}

// TestJobsForOnePeer: a coordinator takes on a share of one peer's questions,
// all of another's, and counts them no more when they are over.
func TestJobsForOnePeer(t *testing.T) {
	c := newCluster(t)
	c.start("a")
	c.publish("a", "news=lemonde.fr")
	c.start("b", "a")
	c.publish("b", "sport=equipe.fr")
	c.run(20*time.Second, nil)
	m := c.peers["a"].Machine
	c.kill("b") // whom a asks for sport, so questions stay open
	take := func(n int, from feedring.PeerID) (accepted bool) {
		q := Query{ID: numbered(n), Client: "reader", Theme: "sport", Within: time.Minute}
		for _, out := range m.Step(c.now, Receive{From: from, Message: q}) {
			if s, ok := out.(*Send); ok {
				if _, ok := s.Message.(Accepted); ok {
					accepted = true
				}
			}
		}
		return accepted
	}
	taken := 0
	for n := range maxJobsFor + 100 {
		if take(n, "greedy") {
			taken++
		}
	}
	if taken != maxJobsFor {
		t.Errorf("%d questions of one peer were taken on", taken)
	}
	for i := range 100 {
		if !take(maxJobs+i, "modest") {
			t.Fatalf("question %d of another peer was refused", i)
		}
	}
	m.Step(c.now.Add(2*time.Minute), Tick{})
	if len(m.jobs)+len(m.jobsFor) != 0 {
		t.Errorf("%d jobs for %d peers are still counted", len(m.jobs), len(m.jobsFor))
	}
}
