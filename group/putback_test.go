package group

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/replication"
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

// What a publisher's store lost may be fresh nowhere any more: those who hold it know how
// far the log went, and have no entry to show. Their word is enough before this life
// publishes, since positions that are given twice are lost to whoever holds the first ones.
func TestPublishesAboveWhatNobodyShows(t *testing.T) {
	for name, late := range map[string]bool{"told when it is admitted": false, "told later": true} {
		c, n, ref, last := putBack(t)
		others := c.nodes["p00"]
		delete(others.store, ref)
		if late {
			c.start("p00") // it remembers nothing, until somebody tells
			c.step(others, Establish{})
		}
		c.step(n, Enter{Via: []feedring.PeerID{"p00"}})
		c.run(time.Second)
		if late {
			c.step(n, Receive{From: "p00", Message: notifyOf(ref, last)})
		}
		c.publish(n.id, ref.URL)
		c.publish(n.id, ref.URL)
		c.run(2 * time.Second)
		first := feedring.Position{Epoch: uint64(testStart.Unix()), Sequence: 1}
		got := n.store[ref]
		if len(got) != 4 || got[2].pos.Epoch <= first.Epoch || got[2].pos.Sequence != 1 || got[3].pos.Epoch != got[2].pos.Epoch || got[3].pos.Sequence != 2 {
			t.Fatalf("%s: it publishes %v, and others held %v", name, got[2:], last)
		}
		if held := others.head(ref).Position; held != got[3].pos {
			t.Errorf("%s: the others hold %v, and it published %v", name, held, got[3].pos)
		}
	}
}

// Nobody tells a founder what others hold, and entries that it publishes alone are lost to nobody.
// So the report of the first member that joins moves the epoch, once.
func TestFounderLearnsEpochAfterFounding(t *testing.T) {
	c, n, ref, last := putBack(t)
	others := c.nodes["p00"]
	delete(others.store, ref)
	c.crash("p00")
	c.step(n, Establish{})
	c.publish(n.id, ref.URL)
	c.run(time.Second)
	if got := n.store[ref]; len(got) != 3 || got[2].pos.Epoch != last.Epoch {
		t.Fatalf("alone it publishes %v", got)
	}
	c.start("p00")
	c.step(others, Holding{Heads: []feedring.Head{{Feed: ref, Position: last}}})
	c.step(others, Enter{Via: []feedring.PeerID{n.id}})
	c.run(3 * time.Second)
	c.publish(n.id, ref.URL)
	c.run(time.Second)
	got := n.store[ref]
	if above := got[len(got)-1].pos; len(got) != 4 || above.Epoch <= last.Epoch || others.head(ref).Position != above {
		t.Fatalf("it publishes %v, and others held %v and hold %v", got, last, others.head(ref).Position)
	}
	epoch := n.m.replicator.Own[ref.URL].Epoch
	c.step(n, Receive{From: "p00", Message: notifyOf(ref, feedring.Position{Epoch: epoch, Sequence: 9})})
	c.publish(n.id, ref.URL)
	c.run(time.Second)
	if now := n.m.replicator.Own[ref.URL].Epoch; now != epoch {
		t.Errorf("the epoch moves again, from %d to %d", epoch, now)
	}
}

// putBack returns a cluster in which p01 begins a life with two entries of a feed, of which
// p00 holds five.
func putBack(t *testing.T) (*cluster, *testNode, feedring.FeedRef, feedring.Position) {
	t.Helper()
	c := newCluster(1)
	ids := c.group(2)
	n := c.nodes[ids[1]]
	ref := feedring.FeedRef{URL: n.feeds[0].URL, Publisher: n.id}
	for range 5 {
		c.publish(n.id, ref.URL)
		c.run(100 * time.Millisecond)
	}
	told := c.nodes[ids[0]].head(ref).Position
	if told.Sequence != 5 {
		t.Fatalf("the group holds %v", told)
	}
	c.crash(n.id)
	n.store[ref] = n.store[ref][:2]
	c.run(100 * time.Millisecond)
	return c, c.start(n.id), ref, told
}

// Who lies gains one new epoch a life and feed by it, and no time: however often it
// tells, of however much, and though it answers nothing that it is asked.
func TestUnprovenHeadsMoveEpochOnce(t *testing.T) {
	c := newCluster(1)
	ids := c.group(4)
	n := c.nodes[ids[1]]
	ref := feedring.FeedRef{URL: n.feeds[0].URL, Publisher: n.id}
	c.noise = func(from feedring.PeerID) bool { return from > n.id }
	lie := func() {
		now := uint64(c.now.Unix())
		for i, epoch := range []uint64{now, now + 1, now + replication.MaxUnprovenAhead, now + replication.MaxUnprovenAhead + 1, now + maxJump - 1, now + maxJump, 1 << 40, ^uint64(0)} {
			for _, liar := range ids[2:] {
				c.step(n, Receive{From: liar, Message: notifyOf(ref, feedring.Position{Epoch: epoch, Sequence: uint64(100 + i)})})
			}
		}
	}
	for life := range 3 {
		c.crash(n.id)
		c.run(5 * time.Second)
		c.start(n.id)
		c.step(n, Enter{Via: ids[:1]})
		c.run(time.Second)
		was := n.m.replicator.Own[ref.URL].Epoch
		before := len(n.store[ref])
		lie()
		if now := n.m.replicator.Own[ref.URL].Epoch; now != was {
			t.Errorf("life %d: a word moved the epoch from %d to %d before there is anything to publish", life, was, now)
		}
		most := uint64(c.now.Unix()) + replication.MaxUnprovenAhead + 1
		for range 3 {
			c.publish(n.id, ref.URL)
			c.run(20 * time.Millisecond)
			lie()
		}
		epoch := n.m.replicator.Own[ref.URL].Epoch
		if epoch > most {
			t.Errorf("life %d: the epoch is %d, which is %d above the clock", life, epoch, epoch-uint64(c.now.Unix()))
		}
		got := n.store[ref][before:]
		for i, e := range got {
			if e.pos != (feedring.Position{Epoch: epoch, Sequence: uint64(i + 1)}) {
				t.Errorf("life %d: it published %v", life, got)
			}
		}
		if len(got) != 3 {
			t.Errorf("life %d: it published %v at once, of three", life, got)
		}
		c.run(3 * time.Second)
		if held := c.nodes[ids[0]].m.replicator.Heads[ref].Pos; held != got[len(got)-1].pos {
			t.Errorf("life %d: the others hold %v, and it published %v", life, held, got)
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
