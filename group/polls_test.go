package group

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/replication"
)

// A thousand feeds of one publisher, none of whose polls ends, leave room for
// what another publishes; and each of them is polled when there is room.
func TestNoPublisherHasAllPolls(t *testing.T) {
	c := newCluster(3)
	ids := c.group(4)
	m, liar, other := c.nodes[ids[0]].m, ids[1], feedring.FeedRef{URL: "https://news.example/rss", Publisher: ids[2]}
	feeds := map[feedring.FeedRef]bool{}
	begun := func(in Input) (polls []Fetch) {
		c.now = c.now.Add(time.Millisecond)
		for _, out := range append(m.Step(c.now, in), m.Step(c.now, Tick{})...) {
			if f, ok := out.(Fetch); ok {
				polls = append(polls, f)
			}
		}
		return polls
	}
	var heads []feedring.Head
	for i := range maxItems {
		ref := feedring.FeedRef{URL: fmt.Sprintf("https://liar.example/%d", i), Publisher: liar}
		heads = append(heads, feedring.Head{Feed: ref, Position: feedring.Position{Epoch: 7, Sequence: 1}})
		feeds[ref] = true
	}
	polls := begun(Receive{From: liar, Message: Heads{Header: m.header(), Heads: heads}})
	if len(polls) != replication.MaxInFlightOf {
		t.Fatalf("%d feeds of one publisher are polled at once", len(polls))
	}
	if p := begun(Receive{From: other.Publisher, Message: notifyOf(other, feedring.Position{Epoch: 7, Sequence: 1})}); len(p) != 1 || p[0].Feed != other {
		t.Fatalf("what another published is not polled at once: %v", p)
	}
	for len(polls) > 0 {
		f := polls[0]
		delete(feeds, f.Feed)
		head := feedring.Head{Feed: f.Feed, Position: feedring.Position{Epoch: 7, Sequence: 1}}
		polls = append(polls[1:], begun(Fetched{Feed: f.Feed, From: f.From, Head: head, Known: head})...)
	}
	if len(feeds) > 0 || len(m.replicator.Polls.InFlight) != 1 || len(m.replicator.Polls.Waiting) > 0 {
		t.Errorf("%d feeds were not polled, %d polls are under way and %d wait", len(feeds), len(m.replicator.Polls.InFlight), len(m.replicator.Polls.Waiting))
	}
}

// What a publisher told that is gone since is asked of the manager soon, before any
// beacon says who has it: else a member that nobody else told of it would go on asking
// the publisher, but for anybody in each third try.
func TestManagerIsAmongThePolled(t *testing.T) {
	c := newCluster(1)
	ids := c.group(12)
	lead, err := c.leader()
	if err != nil {
		t.Fatal(err)
	}
	publisher := ids[1]
	if publisher == lead {
		publisher = ids[2]
	}
	ref, pos := feedring.FeedRef{URL: "https://news.example/rss", Publisher: publisher}, feedring.Position{Epoch: 7, Sequence: 1}
	for _, id := range ids {
		if id == lead || id == publisher {
			continue
		}
		m, now := c.nodes[id].m, c.now
		var polled []feedring.PeerID
		polls := func(outs []Output) bool {
			for _, out := range outs {
				if f, ok := out.(Fetch); ok && f.Feed == ref {
					polled = append(polled, f.From)
					return true
				}
			}
			return false
		}
		under := polls(m.Step(now, Receive{From: publisher, Message: notifyOf(ref, pos)}))
		for end := now.Add(m.cfg.Refresh); len(polled) < 4; {
			if under {
				under = polls(m.Step(now, Fetched{Feed: ref, From: polled[len(polled)-1], Failed: true}))
				continue
			}
			if now = m.Deadline(); now.After(end) {
				break
			}
			under = polls(m.Step(now, Tick{}))
		}
		if !slices.Contains(polled, lead) {
			t.Errorf("%s polls %v, and not its manager %s", id, polled, lead)
		}
	}
}
