package node

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// A member of a group tells load 0, whomever it is to serve, and answers every reader
// with nothing. No query is answered with nothing for that, and a follower is shown
// everything.
func TestMemberThatKeepsEverythingBack(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "off")
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
