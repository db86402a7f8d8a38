package node

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
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

// BenchmarkQueryGroup asks a peer for ten entries of its own group, over a
// connection that stands: find a provider, attach to it, read, check. A client
// remembers which entries were rightly signed; "unseen" asks for others each
// time, so that all ten signatures are checked.
func BenchmarkQueryGroup(b *testing.B) {
	b.Run("unseen", func(b *testing.B) { benchGroup(b, benchSeveral) })
	b.Run("again", func(b *testing.B) { benchGroup(b, 1) })
	b.Run("words", func(b *testing.B) { benchGroup(b, 1, "entry") })
}

// benchSeveral is more pages of ten than a client remembers entries of.
const benchSeveral = 1000

func benchGroup(b *testing.B, pages int, words ...string) {
	w := &benchNet{b: b}
	w.group("news", 5)
	w.pages(pages)
	c := w.client(w.manager("news"))
	for range 20 { // dials every provider that it may be sent to
		benchQuery(b, c, w.page(0), 10)
	}
	var took latencies
	n := 0
	for b.Loop() {
		n++
		begun := time.Now()
		q := w.page(n % pages)
		q.Words = strings.Join(words, " ")
		benchQuery(b, c, q, 10)
		took.add(time.Since(begun))
	}
	took.report(b)
}

// BenchmarkQueryVia asks for ten entries directly, through a relay that is in the group, and
// through one that is not: over what stands, and as a new client's first question.
func BenchmarkQueryVia(b *testing.B) {
	w := &benchNet{b: b}
	w.group("news", 5)
	member := slices.IndexFunc(w.nodes, func(n *Node) bool { return n != w.manager("news") })
	w.pages(1)
	group := w.nodes
	outside := w.start("sport", "outside.example")
	benchUntil(b, "a map of two groups", func() bool { return len(outside.loop.View().Ring) == 2 && len(group[member].loop.View().Ring) == 2 })
	for name, via := range map[string]string{"direct": "", "member": at(group[member]), "outside": at(outside)} {
		open := func() *client.Client {
			c, err := client.New(context.Background(), client.Config{Peers: []string{at(w.manager("news"))}, Network: "bench", Via: via, Logger: quiet})
			if err != nil {
				b.Fatal(err)
			}
			return c
		}
		b.Run(name+"/warm", func(b *testing.B) {
			c := open()
			defer c.Close()
			for range 20 {
				benchQuery(b, c, w.page(0), 10)
			}
			var took latencies
			for b.Loop() {
				begun := time.Now()
				benchQuery(b, c, w.page(0), 10)
				took.add(time.Since(begun))
			}
			took.report(b)
		})
		b.Run(name+"/first", func(b *testing.B) {
			var took latencies
			for b.Loop() {
				c := open()
				begun := time.Now()
				benchQuery(b, c, w.page(0), 10)
				took.add(time.Since(begun))
				_ = c.Close()
			}
			took.report(b)
		})
	}
}

// pages stores entries a second apart, ten for each page, and waits until every
// peer has them.
func (w *benchNet) pages(count int) {
	w.b.Helper()
	w.oldest = time.Now().UTC().Truncate(time.Second).Add(-time.Duration(10*count) * time.Second)
	for n := range count {
		spec := w.nodes[n%len(w.nodes)].cfg.Feeds[0]
		entries := make([]feedring.Entry, 10)
		for i := range entries {
			entries[i] = benchEntry(spec, fmt.Sprintf("page %d entry %d", n, i))
			entries[i].Published = w.oldest.Add(time.Duration(10*n+i) * time.Second)
		}
		if err := w.nodes[n%len(w.nodes)].effects.publisher.Publish(context.Background(), spec, entries); err != nil {
			w.b.Fatal(err)
		}
	}
	w.spreadEntries(10 * count)
}

// page is the query for one page.
func (w *benchNet) page(n int) feedring.Query {
	return feedring.Query{Theme: "news", Limit: 10, Until: w.oldest.Add(time.Duration(10*n+10) * time.Second)}
}

// BenchmarkQueryFar asks for a theme ten hops away, on a ring of twenty groups
// of one peer each.
func BenchmarkQueryFar(b *testing.B) {
	b.Run("ring", func(b *testing.B) { benchFar(b, peer.RingOnly, 10) })
	b.Run("shortcut", func(b *testing.B) { benchFar(b, peer.Shortcut, 1) })
}

func benchFar(b *testing.B, routing peer.Routing, hops int) {
	const groups = 20
	w := &benchNet{b: b}
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
		b.Errorf("%d entries, %v, missing %v, %v", len(answer.Entries), answer.Final.Status, answer.Final.Missing, err)
	}
	return answer.Final
}

// BenchmarkQueries has sixteen readers of four hosts ask one peer as fast as it
// answers, for ten entries each, that the host has not seen for a while: all
// signatures are checked. Readers and peers share the machine.
func BenchmarkQueries(b *testing.B) {
	w := &benchNet{b: b}
	fast := func(c *Config) { c.Refresh = time.Second }
	w.group("news", 5, fast)
	w.pages(benchSeveral)
	manager := w.manager("news")
	const hosts, readers = 4, 4
	var clients []*client.Client
	for range hosts {
		c := w.client(manager)
		clients = append(clients, c)
		for range 10 {
			benchQuery(b, c, w.page(0), 10)
		}
	}
	pages := make(chan int)
	var all sync.WaitGroup
	for _, c := range clients {
		for range readers {
			all.Go(func() {
				for n := range pages {
					benchQuery(b, c, w.page(n%benchSeveral), 10)
				}
			})
		}
	}
	before, n := computing(b), 0
	for b.Loop() {
		pages <- n
		n++
	}
	close(pages)
	all.Wait()
	reportRate(b, computing(b)-before, "queries/s")
}

// BenchmarkLookups keeps 64 questions open at the manager of five peers, over
// one stream: each finds the least loaded peer, has it make room, and is
// answered with a signed ticket.
func BenchmarkLookups(b *testing.B) {
	w := &benchNet{b: b}
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
	go func() {
		for {
			var reply feedringv1.AskReply
			if s.Receive(&reply, 0) != nil {
				return
			}
			if f, err := wire.AskReplyFrom(&reply); err != nil || len(f.Grants) != 1 {
				b.Errorf("%v: %d grants, %v", f.Status, len(f.Grants), err)
			}
			<-places
		}
	}()
	before, n := computing(b), uint64(0)
	for b.Loop() {
		places <- struct{}{}
		n++
		ask := wire.Ask{Attempt: 1, Query: feedring.Query{Theme: "news"}, Within: benchWithin}
		binary.BigEndian.PutUint64(ask.ID[:], n)
		if err := s.Send(wire.AskTo(ask), benchWithin); err != nil {
			b.Fatal(err)
		}
	}
	reportRate(b, computing(b)-before, "lookups/s")
}
