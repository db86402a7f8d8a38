package node

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const benchWithin = 10 * time.Second

// BenchmarkQueryGroup asks a peer for entries of its own group, over a
// connection that stands: find a provider, attach to it, ten entries checked.
func BenchmarkQueryGroup(b *testing.B) {
	w := newBenchNet(b)
	w.group("news", 5)
	for i, n := range w.nodes {
		w.publish(n, fmt.Sprintf("one %d", i), fmt.Sprintf("two %d", i))
	}
	w.spread(10)
	c := w.client(w.manager("news"))
	q := feedring.Query{Theme: "news"}
	for range 20 { // dials every provider that it may be sent to
		benchQuery(b, c, q, 10)
	}
	var took latencies
	for b.Loop() {
		begun := time.Now()
		benchQuery(b, c, q, 10)
		took.add(time.Since(begun))
	}
	took.report(b)
}

// BenchmarkQueryFar asks for a theme ten hops away, on a ring of twenty groups
// of one peer each.
func BenchmarkQueryFar(b *testing.B) {
	b.Run("ring", func(b *testing.B) { benchFar(b, peer.RingOnly, 10) })
	b.Run("shortcut", func(b *testing.B) { benchFar(b, peer.Shortcut, 1) })
}

func benchFar(b *testing.B, routing peer.Routing, hops int) {
	const groups = 20
	w := newBenchNet(b)
	for i := range groups {
		w.start(feedring.Theme(fmt.Sprintf("theme%02d", i)), fmt.Sprintf("p%d.example", i), func(c *Config) { c.Routing = routing })
	}
	benchUntil(b, "a ring of 20", func() bool {
		for _, n := range w.nodes {
			if len(n.loop.View().Ring) != groups {
				return false
			}
		}
		return true
	})
	for _, n := range w.nodes {
		for i := range 10 {
			w.publish(n, fmt.Sprintf("story %d", i))
		}
	}
	ring := w.nodes[0].loop.View().Ring
	var near int
	for i := range ring {
		if ring[i].Manager == w.nodes[0].ID() {
			near = i
		}
	}
	far := ring[(near+groups/2)%groups].Theme
	c := w.client(w.nodes[0])
	q := feedring.Query{Theme: far}
	for range 20 {
		benchQuery(b, c, q, 10)
	}
	var took latencies
	for b.Loop() {
		begun := time.Now()
		if got := benchQuery(b, c, q, 10); got.Hops != hops {
			b.Fatalf("%d hops", got.Hops)
		}
		took.add(time.Since(begun))
	}
	took.report(b)
}

// benchQuery asks once and wants so many entries.
func benchQuery(b *testing.B, c *client.Client, q feedring.Query, entries int) feedring.Final {
	ctx, cancel := context.WithTimeout(context.Background(), benchWithin)
	defer cancel()
	answer, err := c.Query(ctx, q)
	if err != nil || answer.Final.Status != feedring.Answered || len(answer.Entries) != entries {
		b.Fatalf("%d entries, %v, missing %v, %v", len(answer.Entries), answer.Final.Status, answer.Final.Missing, err)
	}
	return answer.Final
}

// BenchmarkQueries has sixteen readers of four hosts ask one peer as fast as it
// answers, for ten entries each, all checked; readers and peers share the
// machine.
func BenchmarkQueries(b *testing.B) {
	w := newBenchNet(b)
	fast := func(c *Config) { c.Refresh = time.Second }
	w.group("news", 5, fast)
	for i, n := range w.nodes {
		w.publish(n, fmt.Sprintf("one %d", i), fmt.Sprintf("two %d", i))
	}
	w.spread(10)
	manager := w.manager("news")
	const hosts, readers = 4, 4
	var clients []*client.Client
	for range hosts {
		c := w.client(manager)
		clients = append(clients, c)
		for range 10 {
			benchQuery(b, c, feedring.Query{Theme: "news"}, 10)
		}
	}
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ResetTimer()
	var all sync.WaitGroup
	for _, c := range clients {
		for range readers {
			all.Go(func() {
				for left.Add(-1) >= 0 && !b.Failed() {
					benchQuery(b, c, feedring.Query{Theme: "news"}, 10)
				}
			})
		}
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "queries/s")
}

// BenchmarkLookups keeps 64 questions open at the manager of five peers, over
// one stream: each finds the least loaded peer, has it make room, and is
// answered with a signed ticket.
func BenchmarkLookups(b *testing.B) {
	w := newBenchNet(b)
	w.group("news", 5, func(c *Config) { c.Refresh = time.Second })
	manager := w.manager("news")
	h, err := host.New(context.Background(), host.Config{Network: "bench", Client: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = h.Close() })
	if _, err := h.Given(manager.Started().Addrs[0]); err != nil {
		b.Fatal(err)
	}
	raw, err := h.Open(context.Background(), manager.ID(), wire.VerbAsk, true)
	if err != nil {
		b.Fatal(err)
	}
	s := wire.NewStream(raw)
	places := make(chan struct{}, 64)
	b.ResetTimer()
	go func() {
		for i := range b.N {
			places <- struct{}{}
			ask := wire.Ask{Attempt: 1, Query: feedring.Query{Theme: "news"}, Within: benchWithin}
			binary.BigEndian.PutUint64(ask.ID[:], uint64(i))
			if err := s.Send(wire.AskTo(ask), benchWithin); err != nil {
				b.Error(err)
				return
			}
		}
	}()
	for range b.N {
		var reply feedringv1.AskReply
		if err := s.Receive(&reply, benchWithin); err != nil {
			b.Fatal(err)
		}
		<-places
		if f, err := wire.AskReplyFrom(&reply); err != nil || len(f.Grants) != 1 {
			b.Fatalf("%v: %d grants, %v", f.Status, len(f.Grants), err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lookups/s")
}
