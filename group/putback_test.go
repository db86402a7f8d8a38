package group

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// A publisher whose store was lost, or is as it was some time ago, and whose clock may be
// behind as well, has something to publish at once: the group is heard first, so
// that it goes on above what others hold of it.
func TestPublishesAboveWhatTheGroupHolds(t *testing.T) {
	for name, keep := range map[string]int{"lost, by a clock that is behind": 0, "put back": 2} {
		c := newCluster(1)
		ids := c.group(2)
		ahead := uint64(c.now.Unix()) + 3600
		id := feedring.PeerID("p02")
		n := c.start(id)
		n.feeds = []feedring.Feed{{URL: "https://p02.example/rss", Title: "p02", Provider: "p02.example", Epoch: ahead}}
		c.step(n, Describe{Feeds: n.feeds})
		c.step(n, Enter{Via: ids[:1]})
		c.run(time.Second)
		ref := feedring.FeedRef{URL: n.feeds[0].URL, Publisher: id}
		for range 5 {
			c.publish(id, ref.URL)
			c.run(100 * time.Millisecond)
		}
		told := c.nodes[ids[0]].head(ref).Position
		if told != (feedring.Position{Epoch: ahead, Sequence: 5}) {
			t.Fatalf("%s: the group holds %v", name, told)
		}

		c.crash(id)
		n.store[ref] = n.store[ref][:keep]
		n.feeds[0].Epoch = 0
		c.run(100 * time.Millisecond)
		n = c.start(id)
		c.publish(id, ref.URL)
		c.publish(id, ref.URL)
		c.step(n, Enter{Via: ids[:1]})
		c.run(2 * time.Second)
		above := feedring.Position{Epoch: ahead + 1, Sequence: 2}
		if got := n.store[ref]; len(got) != keep+2 || got[keep].pos != (feedring.Position{Epoch: ahead + 1, Sequence: 1}) || got[keep+1].pos != above {
			t.Errorf("%s: it publishes %v, and others hold %v", name, got[keep:], told)
		}
		if got := c.nodes[ids[0]].head(ref).Position; got != above {
			t.Errorf("%s: the others hold %v, and it published %v", name, got, above)
		}
	}
}

// Who founds a group has nobody who could tell it of more, and publishes.
func TestFounderPublishes(t *testing.T) {
	c := newCluster(1)
	n := c.start("p00", "https://p00.example/rss")
	c.publish("p00", n.feeds[0].URL)
	c.step(n, Establish{})
	c.run(100 * time.Millisecond)
	if got := n.store[feedring.FeedRef{URL: n.feeds[0].URL, Publisher: "p00"}]; len(got) != 1 {
		t.Errorf("it published %v", got)
	}
}
