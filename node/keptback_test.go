package node

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/transport"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// A member of a group tells load 0, whomever it is to serve, and answers every reader
// with nothing. No query is answered with nothing for that, and a follower is shown
// everything.
func TestMemberThatKeepsEverythingBack(t *testing.T) {
	w := &benchNet{b: t}
	w.group("news", 4, func(c *Config) { c.Refresh = time.Second })
	for _, n := range w.nodes {
		var titles []string
		for i := range 5 {
			titles = append(titles, fmt.Sprintf("%s story %d", n.cfg.Feeds[0].Provider, i))
		}
		w.publish(n, titles...)
	}
	w.spreadEntries(20)
	liar, manager := w.nodes[3], w.manager("news")
	if liar == manager {
		liar = w.nodes[2]
	}
	var asked atomic.Int64
	keepBack(liar, &asked)

	const queries = 45
	c, empty := w.client(manager), 0
	busy, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { // a manager that serves nobody would take every query itself
		_ = c.Follow(busy, feedring.Query{Theme: "news"}, client.FollowOptions{}, func(feedring.Entry, feedring.Cursor) error { return nil })
	}()
	benchUntil(t, "a follower at the manager", func() bool { return manager.loop.View().Memberships["news"].Leases > 0 })
	for range queries {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		answer, err := c.Query(ctx, feedring.Query{Theme: "news"})
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if len(answer.Entries) == 0 && answer.Final.Status == feedring.Answered {
			empty++
		}
		if len(answer.Entries) != 20 || answer.Final.Status != feedring.Answered {
			t.Errorf("%d entries, %v, missing %v", len(answer.Entries), answer.Final.Status, answer.Final.Missing)
		}
	}
	t.Logf("of %d queries %d were sent to the liar first, and %d are silently empty", queries, asked.Load(), empty)
	if asked.Load() == 0 {
		t.Error("nobody was sent to the liar")
	}
	follows(t, c)
}

// A member of a group tells load 0 and serves readers, but leaves out one article. Every
// answer that it gives is completed by the manager, with words and without, and no follower
// misses the article.
func TestMemberThatKeepsOneArticleBack(t *testing.T) {
	w := &benchNet{b: t}
	w.group("news", 4, func(c *Config) { c.Refresh = time.Second })
	for _, n := range w.nodes {
		spec := n.cfg.Feeds[0]
		var entries []feedring.Entry
		for i := range 5 { // an hour old: it should be everywhere
			e := benchEntry(spec, fmt.Sprintf("%s story %d", spec.Provider, i))
			e.Published = time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
			entries = append(entries, e)
		}
		if err := n.effects.publisher.Publish(t.Context(), spec, entries); err != nil {
			t.Fatal(err)
		}
	}
	w.spreadEntries(20)
	liar, manager := w.nodes[3], w.manager("news")
	if liar == manager {
		liar = w.nodes[2]
	}
	spec := manager.cfg.Feeds[0]
	var asked atomic.Int64
	makeRoom(liar)
	leaveOut(liar, feedring.NewEntryID(spec.URL, fmt.Sprintf("%s story %d", spec.Provider, 3), "", ""), &asked)
	busy, stop := context.WithCancel(t.Context())
	defer stop()
	c := w.client(manager)
	go func() { // a manager that serves nobody would take every query itself
		_ = c.Follow(busy, feedring.Query{Theme: "news"}, client.FollowOptions{}, func(feedring.Entry, feedring.Cursor) error { return nil })
	}()
	benchUntil(t, "a follower at the manager", func() bool { return manager.loop.View().Memberships["news"].Leases > 0 })
	benchUntil(t, "all entries in the hints of grants", func() bool {
		told := manager.readers.Delivery.Hint(t.Context(), []feedring.Grant{{Theme: "news", Hints: &feedring.Hints{}}})
		return told[0].Hints != nil && len(told[0].Hints.Copies) == 20
	})
	for name, q := range map[string]feedring.Query{
		"all": {Theme: "news"}, "of one provider": {Theme: "news", Provider: feedring.HostOf(spec.URL).Name()}, "with words": {Theme: "news", Words: "story 3"},
		"the newest, and no more": {Theme: "news", Limit: 20},
	} {
		const queries = 30
		want := 20
		if q.Words != "" {
			want = 4
		}
		before, silent := asked.Load(), 0
		for range queries {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			reader := w.client(manager) // which does not know the liar yet
			answer, err := reader.Query(ctx, q)
			cancel()
			_ = reader.Close()
			if err != nil {
				t.Fatal(err)
			}
			if len(answer.Entries) != want && answer.Final.Status == feedring.Answered {
				silent++
			}
			if len(answer.Entries) != want || answer.Final.Status != feedring.Answered {
				t.Errorf("%s: %d entries, %v, missing %v", name, len(answer.Entries), answer.Final.Status, answer.Final.Missing)
			}
		}
		sent := asked.Load() - before
		t.Logf("%s: of %d queries %d were sent to the liar, and %d are silently incomplete", name, queries, sent, silent)
		if sent == 0 {
			t.Errorf("%s: nobody was sent to the liar", name)
		}
	}
	follows(t, c)
}

// follows has readers follow until one was sent to the liar, for sure.
func follows(t *testing.T, c *client.Client) {
	for range 4 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		shown := 0
		err := c.Follow(ctx, feedring.Query{Theme: "news"}, client.FollowOptions{}, func(feedring.Entry, feedring.Cursor) error {
			if shown++; shown == 20 {
				return client.ErrEnough
			}
			return nil
		})
		cancel()
		if err != nil || shown != 20 {
			t.Errorf("a follower was shown %d entries: %v", shown, err)
		}
	}
}

// keepBack has a peer make room for everybody, tell that it serves nobody, and serve
// nothing. All else it does as any peer.
func keepBack(liar *Node, asked *atomic.Int64) {
	liar.host.Handle("attach", func(raw network.Stream) {
		defer func() { _ = raw.Close() }()
		s := wire.NewStream(raw)
		if s.Receive(&feedringv1.AttachRequest{}, time.Minute) != nil {
			return
		}
		asked.Add(1)
		_ = s.Send(wire.CaughtTo(0, false), time.Minute)
		for s.Receive(&feedringv1.AttachRequest{}, time.Minute) == nil {
			_ = s.Send(wire.AliveTo(), time.Minute)
		}
	})
	makeRoom(liar)
}

// leaveOut has a peer serve readers all but one entry, and tell nobody of it.
func leaveOut(liar *Node, id feedring.EntryID, asked *atomic.Int64) {
	liar.host.Handle("attach", func(raw network.Stream) {
		defer func() { _ = raw.Close() }()
		asked.Add(1)
		here, there := net.Pipe()
		defer func() { _ = here.Close() }()
		go func() {
			defer func() { _ = there.Close() }()
			_ = liar.readers.ServeAttach(feedring.PeerID(raw.Conn().RemotePeer().String()), wire.NewStream(transport.PipeEnd{Conn: there}))
		}()
		go func() { _, _ = io.Copy(here, raw) }()
		in, out, left := wire.NewStream(transport.PipeEnd{Conn: here}), wire.NewStream(raw), 0
		for {
			var reply feedringv1.AttachReply
			if in.Receive(&reply, time.Minute) != nil {
				return
			}
			if item := reply.GetItem(); item != nil {
				if e, _, err := wire.DecodeEntry(wire.SealFrom(item.GetEntry())); err == nil && e.ID == id {
					left++
					continue
				}
			}
			if caught := reply.GetCaught(); caught != nil {
				caught.Entries -= uint32(left)
			}
			if out.Send(&reply, time.Minute) != nil {
				return
			}
		}
	})
}

// makeRoom has a peer make room for everybody, and tell that it serves nobody.
func makeRoom(liar *Node) {
	liar.host.Handle("assign", func(raw network.Stream) {
		defer func() { _ = raw.Close() }()
		answers, err := liar.host.Open(context.Background(), feedring.PeerID(raw.Conn().RemotePeer().String()), "assigned", false)
		if err != nil {
			return
		}
		defer func() { _ = answers.Close() }()
		in, out := wire.NewStream(raw), wire.NewStream(answers)
		for {
			var a feedringv1.Assign
			if in.Receive(&a, time.Minute) != nil {
				return
			}
			if out.Send(&feedringv1.Assigned{Header: a.GetHeader(), Id: a.GetId(), Attempt: a.GetAttempt(), Ok: true}, time.Minute) != nil {
				return
			}
		}
	})
}
