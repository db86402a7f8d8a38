package group

import (
	"testing"

	"github.com/feedring/feedring"
)

// Who started again and founded its group says what the group has not only when it
// would have heard of the others, even if another that came back follows it; who
// never had others says so at once.
func TestRestartedPeerIsNotAuthoritative(t *testing.T) {
	founded := func(before feedring.Term) (*cluster, *testNode) {
		c := newCluster(1)
		n := c.start("p1")
		n.disk.Term, n.disk.Highest = before, before.Number
		c.crash("p1")
		c.step(c.start("p1"), Establish{})
		c.run(n.m.cfg.Refresh / 10)
		if !n.m.lead.serving {
			t.Fatal("it does not manage its group")
		}
		return c, n
	}
	if _, n := founded(feedring.Term{}); !n.m.Authoritative() {
		t.Error("who was never in a group with others is not sure")
	}
	before := feedring.Term{Number: 5, Claimant: "p9"}
	c, n := founded(before)
	says := func() (missing []string) {
		for _, out := range n.m.Step(c.now, Receive{From: "p5", Message: Place{Header: Header{Group: testTheme.Group()}, Provider: "none.example"}}) {
			if s, ok := out.(*Send); ok {
				missing = s.Message.(Placed).Missing
			}
		}
		return missing
	}
	if n.m.Authoritative() || len(says()) != 1 {
		t.Error("who is alone again is sure at once")
	}
	c.run((authoritativePeriods + 1) * n.m.cfg.Refresh)
	if !n.m.Authoritative() || len(says()) != 0 {
		t.Error("who hears of nobody for long is not sure")
	}
	c, n = founded(before)
	c.step(c.start("p2"), Enter{Via: []feedring.PeerID{"p1"}})
	c.run(n.m.cfg.Refresh)
	if n.m.Authoritative() || !n.m.lead.acked {
		t.Error("it is sure as soon as another follows it, who may have come back like it")
	}
	c.run(authoritativePeriods * n.m.cfg.Refresh)
	if !n.m.Authoritative() {
		t.Error("who heard of nobody else for long is not sure")
	}
	c, n = founded(feedring.Term{})
	c.step(c.start("p2"), Enter{Via: []feedring.PeerID{"p1"}})
	c.run(n.m.cfg.Refresh)
	if !n.m.Authoritative() || n.m.disk.Term.IsZero() {
		t.Error("who founded a new group is not sure of it once another follows")
	}
}
