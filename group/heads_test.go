package group

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// A publisher that is admitted by others tells them of all that it holds of its
// own feeds: they may have lost it, and would not ask for what no beacon tells.
func TestAdmittedTellsItsOwnHeads(t *testing.T) {
	const url = "https://me.example/rss"
	c := newCluster(1)
	n := c.start("me", url)
	c.step(n, Establish{})
	c.run(20 * time.Millisecond)
	c.publish("me", url)
	c.run(time.Second)
	n = c.start("me")
	c.step(n, Enter{Via: []feedring.PeerID{"p0"}})
	c.run(20 * time.Millisecond)
	c.now = c.now.Add(4 * n.m.cfg.Refresh)
	term := feedring.Term{Number: 2, Claimant: "p0"}
	c.step(n, Receive{From: "p0", Message: Admitted{
		Header: Header{Group: n.m.group, Term: term}, Claim: Claim{Group: n.m.group, Term: term}, Admitted: c.now,
		Rows: []*Row{{Group: n.m.group, Peer: "p0", Incarnation: 1, Version: 1, Admitted: testStart}},
	}})
	c.run(10 * time.Millisecond)
	if n.m.manager() != "p0" {
		t.Fatalf("it follows %s", n.m.manager())
	}
	if heads, _ := n.m.recentHeads(); len(heads) != 1 || heads[0].Feed.URL != url || heads[0].Position.IsZero() {
		t.Errorf("it tells %v", heads)
	}
}
