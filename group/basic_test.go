package group

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

func TestFoundJoinFailover(t *testing.T) {
	c := newCluster(1)
	ids := c.group(5)
	lead, err := c.leader()
	if err != nil || lead != ids[0] {
		t.Fatal(lead, err)
	}
	if s := c.nodes[ids[0]].m.lead.secondary; s == "" {
		t.Fatal("no secondary")
	}
	for _, id := range ids {
		if n := len(c.nodes[id].m.View().Members); n != 5 {
			t.Errorf("%s sees %d members", id, n)
		}
		if v := c.nodes[id].m.me().row; len(v.Backfilling) > 0 || v.From.After(c.now.Add(-24*time.Hour)) {
			t.Errorf("%s is not whole: %v", id, v)
		}
	}
	c.crash(ids[0])
	crashed := c.now
	for {
		c.run(10 * time.Millisecond)
		if lead, err = c.leader(); err == nil {
			break
		}
		if c.now.Sub(crashed) > 3*time.Second {
			t.Fatal(err)
		}
	}
	t.Logf("taken over by %s after %s", lead, c.now.Sub(crashed))
	c.run(time.Second)
	if s := c.nodes[lead].m.lead.secondary; s == "" {
		t.Fatal("no secondary after the takeover")
	}
}

func TestPublishSpreads(t *testing.T) {
	c := newCluster(2)
	ids := c.group(4)
	ref := feedring.FeedRef{URL: "https://p01.example/rss", Publisher: "p01"}
	for range 3 {
		c.publish("p01", ref.URL)
		c.run(50 * time.Millisecond)
	}
	for _, id := range ids {
		if h := c.nodes[id].m.replicator.Heads[ref]; h == nil || h.Pos.Sequence != 3 {
			t.Errorf("%s holds %v", id, h)
		}
	}
}

func TestPlaceAndAttach(t *testing.T) {
	c := newCluster(3)
	ids := c.group(4)
	for i := range 40 {
		id := feedring.QueryID{byte(i)}
		c.step(c.nodes[ids[0]], Receive{From: "client", Message: Place{Header: Header{Group: testTheme.Group()}, ID: id, Client: "reader", Within: time.Second}})
		c.run(10 * time.Millisecond)
		if len(c.placed) != i+1 || len(c.placed[i].Grants) != 1 {
			t.Fatal(i, c.placed)
		}
		g := c.placed[i].Grants[0]
		n := c.nodes[g.Provider.ID]
		c.step(n, Attach{Stream: uint64(i + 1), Ticket: g.Ticket})
		if len(n.refused) > 0 {
			t.Fatal(n.refused)
		}
	}
	for _, id := range ids {
		if n := c.nodes[id].m.placer.Leases(); n != 10 {
			t.Errorf("%s serves %d", id, n)
		}
	}
}
