package group

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// A publisher that is admitted by others tells them of all that it holds of its
// own feeds: they may have lost it, and would not ask for what no beacon tells.
func TestAdmittedPeerAnnouncesOwnHeads(t *testing.T) {
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
	if heads, _ := n.m.replicator.Recent(); len(heads) != 1 || heads[0].Feed.URL != url || heads[0].Position.IsZero() {
		t.Errorf("it tells %v", heads)
	}
}

// A publisher that is back is polled at once for what it told before it was
// away, however long the polls that failed meanwhile have others wait.
func TestPublisherBackIsPolled(t *testing.T) {
	for _, manages := range []bool{true, false} {
		c := newCluster(1)
		ids := c.group(3)
		lead, err := c.leader()
		if err != nil {
			t.Fatal(err)
		}
		m, publisher := c.nodes[lead].m, ids[2]
		if publisher == lead {
			publisher = ids[1]
		}
		url := "https://news.example/rss"
		c.nodes[publisher].feeds = []feedring.Feed{{URL: url, Provider: "news.example"}}
		c.step(c.nodes[publisher], Describe{Feeds: c.nodes[publisher].feeds})
		c.run(time.Second)
		back := Receive{From: publisher, Message: BeaconAnswer{Header: m.header(), Number: m.managing.beacon}}
		if !manages {
			back = Receive{From: lead, Message: m.beaconNow()}
			for _, id := range ids {
				if id != lead && id != publisher {
					m = c.nodes[id].m
				}
			}
			b := back.Message.(Beacon)
			b.Number++
			back.Message = b
		}
		h := m.replicator.Head(feedring.FeedRef{URL: url, Publisher: publisher})
		m.members[publisher].away, m.members[publisher].since = true, c.now
		m.changedPresence()
		h.Advertised, h.Source, h.Tries = feedring.Position{Epoch: 7, Sequence: 1}, publisher, 6
		m.timers.Set(timerKey{kind: timerPoll, ref: feedring.FeedRef{URL: url, Publisher: publisher}}, c.now.Add(m.cfg.Refresh))
		polled := feedring.PeerID("")
		for _, out := range append(m.Step(c.now, back), m.Step(c.now.Add(m.replicator.Spread()), Tick{})...) {
			if f, ok := out.(Fetch); ok {
				polled = f.From
			}
		}
		if polled != publisher {
			t.Errorf("manages %v: it polls %q", manages, polled)
		}
	}
}
