package node

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
)

// benchNet is running peers on loopback, each with hosts, store and streams as
// in a process of its own.
type benchNet struct {
	b      testing.TB
	nodes  []*Node
	oldest time.Time // entry of pages
}

// nowhere is the address of a feed that no fetch ever reaches: entries are
// handed to the publisher directly.
func nowhere(provider string) string { return "http://127.0.0.1:1/" + provider }

// start runs a peer that publishes one feed and joins through the first peer.
func (w *benchNet) start(theme feedring.Theme, provider string, change ...func(*Config)) *Node {
	w.b.Helper()
	cfg := Default()
	cfg.Data, cfg.HTTP, cfg.Network = w.b.TempDir(), "off", "bench"
	cfg.Listen = []string{"/ip4/127.0.0.1/udp/0/quic-v1", "/ip4/127.0.0.1/tcp/0"}
	cfg.Logger = slog.New(slog.DiscardHandler)
	cfg.Interval = time.Hour
	cfg.Feeds = []feedring.FeedSpec{{URL: nowhere(provider), Theme: theme, Provider: feedring.Provider(provider)}}
	if len(w.nodes) > 0 {
		cfg.Join = w.nodes[0].Started().Addrs[:1]
	}
	for _, f := range change {
		f(&cfg)
	}
	n, err := Start(context.Background(), cfg)
	if err != nil {
		w.b.Fatal(err)
	}
	w.b.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = n.Close(ctx)
	})
	w.nodes = append(w.nodes, n)
	return n
}

// group runs size peers of one theme and waits until they know each other.
func (w *benchNet) group(theme feedring.Theme, size int, change ...func(*Config)) {
	w.b.Helper()
	for i := range size {
		w.start(theme, fmt.Sprintf("p%d.example", i), change...)
	}
	w.formed(theme, size)
}

func (w *benchNet) formed(theme feedring.Theme, size int) {
	w.b.Helper()
	benchUntil(w.b, "one group of "+string(theme), func() bool {
		for _, n := range w.nodes {
			c := n.loop.View().Groups[theme]
			if len(c.Peers) != size || c.Manager != w.nodes[0].loop.View().Groups[theme].Manager || c.Manager == "" {
				return false
			}
		}
		return true
	})
}

// manager is the peer that leads a group.
func (w *benchNet) manager(theme feedring.Theme) *Node {
	i := slices.IndexFunc(w.nodes, func(n *Node) bool {
		return n.loop.View().Roles[theme].Role == feedring.RoleManager
	})
	if i < 0 {
		w.b.Fatalf("nobody manages %s", theme)
	}
	return w.nodes[i]
}

// publish takes entries of a peer's feed the whole way: positions, signatures,
// store, synced. It returns when they are on disk.
func (w *benchNet) publish(n *Node, titles ...string) {
	spec := n.cfg.Feeds[0]
	entries := make([]feedring.Entry, len(titles))
	for i, title := range titles {
		entries[i] = benchEntry(spec, title)
	}
	if err := n.effects.publisher.Publish(context.Background(), spec, entries); err != nil {
		w.b.Error(err)
	}
}

func benchEntry(spec feedring.FeedSpec, title string) feedring.Entry {
	return feedring.Entry{
		ID: feedring.NewEntryID(spec.URL, title, "", ""), Version: 1, Title: title,
		URL: "https://example.org/" + title, Summary: benchText, Published: time.Now().UTC().Truncate(time.Second),
	}
}

const benchText = "The council decided on Tuesday that the bridge over the river is closed for a year, " +
	"since the inspection found cracks in two of its pillars; traffic goes by the northern ring road, and " +
	"residents of the old town are promised a ferry from the first of next month on, free of charge."

// spreadEntries waits until every peer of the network holds as many entries.
func (w *benchNet) spreadEntries(entries int) {
	w.b.Helper()
	benchUntil(w.b, fmt.Sprintf("%d entries everywhere", entries), func() bool {
		for _, n := range w.nodes {
			held := 0
			for _, h := range n.store.Heads() {
				held += h.Count
			}
			if held < entries {
				return false
			}
		}
		return true
	})
}

// client is a reader with a host of its own that asks one peer.
func (w *benchNet) client(n *Node) *client.Client {
	w.b.Helper()
	c, err := client.New(context.Background(), client.Config{
		Peers: n.Started().Addrs[:1], Network: "bench", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		w.b.Fatal(err)
	}
	w.b.Cleanup(func() { _ = c.Close() })
	return c
}

func benchUntil(b testing.TB, what string, ok func() bool) {
	b.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			b.Fatalf("waited in vain: %s", what)
		}
	}
}

// reportRate tells how many were done a second, and what one cost.
func reportRate(b *testing.B, computed time.Duration, unit string) {
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), unit)
	b.ReportMetric(float64(computed.Microseconds())/float64(b.N), "cpu-µs/op")
	b.ReportMetric(0, "ns/op")
}

// latencies gathers durations from many goroutines.
type latencies struct {
	mu  sync.Mutex
	all []time.Duration
}

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, d)
}

// report tells the median and the 99th percentile in milliseconds.
func (l *latencies) report(b *testing.B) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) == 0 {
		b.Fatal("nothing was measured")
	}
	slices.Sort(l.all)
	at := func(q float64) float64 { return l.all[int(q*float64(len(l.all)-1))].Seconds() * 1000 }
	b.ReportMetric(at(0.50), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
	b.ReportMetric(0, "ns/op") // the mean says nothing that these do not
}
