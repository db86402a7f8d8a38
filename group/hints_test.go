package group

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

func notifyOf(ref feedring.FeedRef, pos feedring.Position) Message {
	return Notify{Header: Header{Group: testTheme.Group()}, Head: feedring.Head{Feed: ref, Position: pos}}
}

// Whatever a member says of a publisher's own feed, its epoch stays, and the
// others go on receiving what it publishes.
func TestEpochMovesOnProofOnly(t *testing.T) {
	c := newCluster(1)
	ids := c.group(3)
	pub, url := c.nodes[ids[0]], c.nodes[ids[0]].feeds[0].URL
	ref := feedring.FeedRef{URL: url, Publisher: ids[0]}
	c.publish(ids[0], url)
	c.run(time.Second)
	was := pub.m.replicator.Own[url].Epoch
	for _, ahead := range []uint64{1, 1000, maxJump, 1 << 40, maxNumber - 1 - was, ^uint64(0) - was} {
		c.step(pub, Receive{From: ids[2], Message: notifyOf(ref, feedring.Position{Epoch: was + ahead, Sequence: 1})})
		c.run(time.Second)
		c.step(pub, Fetched{Feed: ref, From: ids[2], Known: feedring.Head{Feed: ref, Position: feedring.Position{Epoch: was + ahead, Sequence: 1}}}) // nobody asked
		if got := pub.m.replicator.Own[url].Epoch; got != was {
			t.Fatalf("told %d ahead, the epoch moved by %d", ahead, got-was)
		}
	}
	c.publish(ids[0], url)
	c.run(3 * time.Second)
	for _, id := range ids {
		if got := c.nodes[id].m.replicator.Heads[ref].Pos; got != (feedring.Position{Epoch: was, Sequence: 2}) {
			t.Errorf("%s holds %v", id, got)
		}
	}
}

// A publisher that lost its store, and whose clock went back, goes on above
// the entries that others show it.
func TestLostStoreIsProven(t *testing.T) {
	c := newCluster(1)
	ids := c.group(3)
	pub, url := c.nodes[ids[1]], c.nodes[ids[1]].feeds[0].URL
	ref := feedring.FeedRef{URL: url, Publisher: ids[1]}
	high := feedring.Position{Epoch: uint64(c.now.Unix()) + 1000, Sequence: 7}
	c.crash(ids[1])
	for _, id := range []feedring.PeerID{ids[0], ids[2]} {
		n := c.nodes[id]
		n.store[ref] = []testEntry{{high, c.now}}
		c.step(n, Holding{Heads: []feedring.Head{n.head(ref)}})
	}
	c.run(time.Second)
	c.start(ids[1])
	c.step(pub, Enter{Via: ids[:1]})
	c.run(5 * time.Second)
	c.publish(ids[1], url)
	c.run(3 * time.Second)
	for _, id := range ids {
		if got := c.nodes[id].m.replicator.Heads[ref].Pos; got != (feedring.Position{Epoch: high.Epoch + 1, Sequence: 1}) {
			t.Errorf("%s holds %v", id, got)
		}
	}
}

// A publisher that has begun to publish goes above what others show it.
func TestShownAfterItPublished(t *testing.T) {
	c := newCluster(1)
	ids := c.group(2)
	pub, url := c.nodes[ids[1]], c.nodes[ids[1]].feeds[0].URL
	ref := feedring.FeedRef{URL: url, Publisher: ids[1]}
	c.publish(ids[1], url)
	c.run(time.Second)
	more := feedring.Position{Epoch: pub.m.replicator.Own[url].Epoch, Sequence: 7}
	n := c.nodes[ids[0]]
	n.store[ref] = append(n.store[ref], testEntry{more, c.now})
	c.step(n, Holding{Heads: []feedring.Head{n.head(ref)}})
	c.step(pub, Receive{From: ids[0], Message: notifyOf(ref, more)})
	c.run(time.Second)
	c.publish(ids[1], url)
	c.run(3 * time.Second)
	at := pub.m.replicator.Heads[ref].Pos
	if at.Epoch <= more.Epoch || at.Sequence != 1 || n.m.replicator.Heads[ref].Pos != at {
		t.Errorf("it publishes %v above %v, and the others hold %v", at, more, n.m.replicator.Heads[ref].Pos)
	}
}

// A holder that shows nothing moves no position, and the publisher's entries
// are polled whatever was told before.
func TestHeadsAreHints(t *testing.T) {
	c := newCluster(1)
	ids := c.group(3)
	url := c.nodes[ids[0]].feeds[0].URL
	ref := feedring.FeedRef{URL: url, Publisher: ids[0]}
	victim := c.nodes[ids[2]]
	for _, fake := range []feedring.Position{
		{Epoch: uint64(c.now.Unix()) + 5000, Sequence: 9}, {Epoch: 1 << 40, Sequence: 1 << 40},
	} {
		c.step(victim, Receive{From: ids[1], Message: notifyOf(ref, fake)})
		h := victim.m.replicator.Heads[ref]
		if h != nil && h.Advertised == fake {
			h.InFlight = true
			victim.m.replicator.Polls.Begin(ref.Publisher)
			c.step(victim, Fetched{Feed: ref, From: ids[1], Head: feedring.Head{Feed: ref}, Known: feedring.Head{Feed: ref}})
		}
		if h != nil && !h.Pos.IsZero() {
			t.Fatalf("nothing was shown, and %v counts as held", h.Pos)
		}
	}
	c.publish(ids[0], url)
	c.run(3 * time.Second)
	if got, want := victim.m.replicator.Heads[ref].Pos, c.nodes[ids[0]].m.replicator.Heads[ref].Pos; got != want || got.IsZero() {
		t.Errorf("holds %v of %v", got, want)
	}
}

// A member of a large group that tells of more and more, and shows nothing,
// does not keep the publisher from being polled.
func TestAdvertiserDoesNotBlockPublisher(t *testing.T) {
	c := newCluster(1)
	ids := c.group(3)
	ref := feedring.FeedRef{URL: c.nodes[ids[0]].feeds[0].URL, Publisher: ids[0]}
	m := c.nodes[ids[2]].m
	c.nodes[ids[2]].m.replicator.Head(ref).Backfill = feedring.Position{Epoch: 1, Sequence: 1} // who told comes first
	m.replicator.Backfills++
	asked := map[feedring.PeerID]bool{}
	now := c.now
	polled := func(outs []Output) (from feedring.PeerID) {
		for _, out := range outs {
			if f, ok := out.(Fetch); ok {
				from, asked[f.From] = f.From, true
			}
		}
		return from
	}
	tells := func(sequence uint64) []Output {
		return m.Step(now, Receive{From: ids[1], Message: notifyOf(ref, feedring.Position{Epoch: uint64(now.Unix()), Sequence: sequence})})
	}
	for i := range uint64(4) {
		from := polled(tells(100 + i))
		for range 100 {
			now = now.Add(10 * time.Millisecond)
			if from == "" {
				from = polled(m.Step(now, Tick{}))
			}
			if from != "" {
				from = polled(m.Step(now, Fetched{Feed: ref, From: from, Head: feedring.Head{Feed: ref}, Failed: from == ids[0]}))
				if again := polled(tells(1000 * uint64(now.UnixMilli()%1e6))); again != "" {
					from = again
				}
			}
		}
	}
	if !asked[ids[0]] {
		t.Errorf("only %v were polled", asked)
	}
}

// Whatever message tells of more of a feed than there is: the feed's own epoch
// stays, nobody's position moves, and what is published next arrives
// everywhere.
func TestNoCarrierMovesAPosition(t *testing.T) {
	for name, carry := range map[string]func(m *Machine, from feedring.PeerID, h []feedring.Head) Message{
		"notify": func(m *Machine, _ feedring.PeerID, h []feedring.Head) Message {
			return Notify{Header: m.header(), Head: h[0]}
		},
		"heads": func(m *Machine, _ feedring.PeerID, h []feedring.Head) Message {
			return Heads{Header: m.header(), Heads: h}
		},
		"beacon answer": func(m *Machine, _ feedring.PeerID, h []feedring.Head) Message {
			return BeaconAnswer{Header: m.header(), Heads: h, Number: m.managing.beacon, Catalogue: m.catalogueHash()}
		},
		"beacon of a claim above": func(m *Machine, from feedring.PeerID, h []feedring.Head) Message {
			term := feedring.Term{Number: m.want.Highest + 1, Claimant: from}
			return Beacon{Header: Header{Group: m.group, Term: term}, Claim: Claim{Group: m.group, Term: term}, Number: 1, Acknowledged: 1, Heads: h}
		},
		"admission": func(m *Machine, _ feedring.PeerID, h []feedring.Head) Message {
			return Admitted{Header: m.header(), Claim: m.lead.claim, Heads: h}
		},
	} {
		for _, ahead := range []uint64{1, 1000, maxJump, 1 << 40, maxNumber - 1} {
			c := newCluster(1)
			ids := c.group(3)
			url := c.nodes[ids[0]].feeds[0].URL
			ref := feedring.FeedRef{URL: url, Publisher: ids[0]}
			c.publish(ids[0], url)
			c.run(time.Second)
			was := c.nodes[ids[0]].m.replicator.Own[url].Epoch
			for _, victim := range ids[:2] {
				n := c.nodes[victim]
				fake := feedring.Head{Feed: ref, Position: feedring.Position{Epoch: was + ahead, Sequence: 9}}
				c.step(n, Receive{From: ids[2], Message: carry(n.m, ids[2], []feedring.Head{fake})})
			}
			c.run(10 * time.Second)
			c.publish(ids[0], url)
			c.run(5 * time.Second)
			for _, id := range ids {
				if got := c.nodes[id].m.replicator.Heads[ref].Pos; got != (feedring.Position{Epoch: was, Sequence: 2}) {
					t.Errorf("%s, %d ahead: %s holds %v of epoch %d", name, ahead, id, got, was)
				}
			}
		}
	}
}

// A publisher that was away and tells of an entry is polled for it at once, not
// when a beacon says that it is back: nobody else has the entry.
func TestReturningPublisherIsPolledAtOnce(t *testing.T) {
	c := newCluster(1)
	ids := c.group(3)
	lead, url := c.nodes[ids[0]].m, c.nodes[ids[2]].feeds[0].URL
	ref := feedring.FeedRef{URL: url, Publisher: ids[2]}
	c.crash(ids[2])
	c.run(4 * time.Second)
	if !lead.members[ids[2]].away {
		t.Fatal("a member that crashed is not away")
	}
	pos := feedring.Position{Epoch: uint64(c.now.Unix()), Sequence: 1}
	for _, out := range lead.Step(c.now, Receive{From: ids[2], Message: notifyOf(ref, pos)}) {
		if f, ok := out.(Fetch); ok {
			if f.From != ids[2] {
				t.Errorf("it polls %s for what %s told", f.From, ids[2])
			}
			return
		}
	}
	t.Error("it polls nobody")
}
