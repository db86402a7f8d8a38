package group

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/replication"
)

// unserved is a member that polled publisher for a feed again and again, in vain:
// its next try is a period away.
func unserved(t *testing.T) (c *cluster, m *Machine, ref feedring.FeedRef, h *replication.Head, other feedring.PeerID) {
	c = newCluster(1)
	ids := c.group(4)
	lead, err := c.leader()
	if err != nil {
		t.Fatal(err)
	}
	var members []feedring.PeerID
	for _, id := range ids {
		if id != lead {
			members = append(members, id)
		}
	}
	publisher := c.nodes[members[0]]
	publisher.feeds = []feedring.Feed{{URL: "https://news.example/rss", Provider: "news.example"}}
	c.step(publisher, Describe{Feeds: publisher.feeds})
	c.run(time.Second)
	m, ref = c.nodes[members[1]].m, feedring.FeedRef{URL: publisher.feeds[0].URL, Publisher: members[0]}
	h = m.replicator.Head(ref)
	h.Advertised, h.Source, h.Tries, h.Failures = feedring.Position{Epoch: 7, Sequence: 1}, ref.Publisher, 6, 6
	m.timers.Set(timerKey{kind: timerPoll, ref: ref}, c.now.Add(m.cfg.Refresh))
	return c, m, ref, h, members[2]
}

func polled(outs []Output) feedring.PeerID {
	for _, out := range outs {
		if f, ok := out.(Fetch); ok && len(f.Answer) == 0 {
			return f.From
		}
	}
	return ""
}

// A member that advertises what polls failed to fetch is polled next, and
// soon: the publisher may be out of reach, and the others have nothing.
func TestAltSourceIsPolledNext(t *testing.T) {
	c, m, ref, h, other := unserved(t)
	outs := m.Step(c.now, Receive{From: other, Message: notifyOf(ref, h.Advertised)})
	outs = append(outs, m.Step(c.now.Add(m.replicator.Spread()), Tick{})...)
	if p := polled(outs); p != other {
		t.Errorf("it polls %q", p)
	}
}

// A publisher that has something new is asked for that at once: what nobody gives
// any more does not keep it waiting.
func TestPublishersNewEntryIsPolledAtOnce(t *testing.T) {
	c, m, ref, h, _ := unserved(t)
	news := h.Advertised
	news.Sequence++
	outs := m.Step(c.now, Receive{From: ref.Publisher, Message: notifyOf(ref, news)})
	outs = append(outs, m.Step(c.now.Add(m.replicator.Spread()), Tick{})...)
	if p := polled(outs); p != ref.Publisher {
		t.Errorf("it polls %q", p)
	}
	c, m, ref, h, other := unserved(t)
	news = h.Advertised
	news.Sequence++
	outs = m.Step(c.now, Receive{From: other, Message: notifyOf(ref, news)})
	outs = append(outs, m.Step(c.now.Add(m.replicator.Spread()), Tick{})...)
	if p := polled(outs); p != "" {
		t.Errorf("it polls %q, who may tell again and again", p)
	}
}

// If a poll is under way, the alternative source is polled after it fails.
func TestAltSourceIsPolledAfterFailure(t *testing.T) {
	c, m, ref, h, other := unserved(t)
	outs := m.Step(c.now.Add(m.cfg.Refresh), Tick{})
	asked := polled(outs)
	if asked == "" || asked == other {
		t.Fatalf("it polls %q", asked)
	}
	now := c.now.Add(m.cfg.Refresh + time.Second)
	m.Step(now, Receive{From: other, Message: notifyOf(ref, h.Advertised)})
	outs = m.Step(now, Fetched{Feed: ref, From: asked, Failed: true})
	outs = append(outs, m.Step(now.Add(m.cfg.Refresh/20), Tick{})...)
	if p := polled(outs); p != other {
		t.Errorf("it polls %q", p)
	}
}

// No alternative source is believed once polls keep failing: a member that
// advertises again and again would be polled each time.
func TestUnobtainableFeedHasNoAltSource(t *testing.T) {
	c, m, ref, h, other := unserved(t)
	h.Failures = replication.MaxFailures
	outs := m.Step(c.now, Receive{From: other, Message: notifyOf(ref, h.Advertised)})
	outs = append(outs, m.Step(c.now.Add(m.replicator.Spread()), Tick{})...)
	if p := polled(outs); p != "" {
		t.Errorf("it polls %q", p)
	}
}

// A member that advertises again and again, and gives nothing, does not keep the publisher
// from being polled.
func TestRepeatedAdvertiserDoesNotBlockPublisher(t *testing.T) {
	c, m, ref, h, other := unserved(t)
	h.Tries, h.Failures = 2, 1 // two more, and it is the publisher's turn
	now := c.now
	for range 4 * replication.MaxFailures {
		now = now.Add(m.cfg.Refresh / 4)
		outs := m.Step(now, Receive{From: other, Message: notifyOf(ref, h.Advertised)})
		outs = append(outs, m.Step(now.Add(m.replicator.Spread()), Tick{})...)
		switch p := polled(outs); p {
		case ref.Publisher:
			return
		case "":
		default:
			m.Step(now.Add(m.replicator.Spread()), Fetched{Feed: ref, From: p, Failed: true})
		}
		if h.Unobtainable() {
			break
		}
	}
	t.Error("the publisher is not asked")
}
