package group

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
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
	for i := range maxTold {
		ref := feedring.FeedRef{URL: fmt.Sprintf("https://liar.example/%d", i), Publisher: liar}
		heads = append(heads, feedring.Head{Feed: ref, Position: feedring.Position{Epoch: 7, Sequence: 1}})
		feeds[ref] = true
	}
	polls := begun(Receive{From: liar, Message: Heads{Header: m.header(), Heads: heads}})
	if len(polls) != maxFlyingOf {
		t.Fatalf("%d feeds of one publisher are polled at once", len(polls))
	}
	if p := begun(Receive{From: other.Publisher, Message: told(other, feedring.Position{Epoch: 7, Sequence: 1})}); len(p) != 1 || p[0].Feed != other {
		t.Fatalf("what another published is not polled at once: %v", p)
	}
	for len(polls) > 0 {
		f := polls[0]
		delete(feeds, f.Feed)
		head := feedring.Head{Feed: f.Feed, Position: feedring.Position{Epoch: 7, Sequence: 1}}
		polls = append(polls[1:], begun(Fetched{Feed: f.Feed, From: f.From, Head: head, Known: head})...)
	}
	if len(feeds) > 0 || len(m.polls.flying) != 1 || len(m.polls.waiting) > 0 {
		t.Errorf("%d feeds were not polled, %d polls are under way and %d wait", len(feeds), len(m.polls.flying), len(m.polls.waiting))
	}
}
