package node

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/identity"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
)

// BenchmarkManyFeedsPeer is the same of a whole peer, in a group of its own, whose
// private feeds have an entry each, which no index has yet: how long it takes to be
// ready, and until all are watched; what a feed takes of everything that the peer
// keeps, then, and when the index is built and the store has given back what it
// wrote with.
func BenchmarkManyFeedsPeer(b *testing.B) {
	w := &benchNet{b: b}
	data := b.TempDir()
	id, err := identity.Load(data)
	check(b, err)
	self, err := wire.NewSealer(id, "bench")
	check(b, err)
	s, err := store.Open(storeIn(data), store.Options{Reserve: -1})
	check(b, err)
	putFeeds(b, s, b.N)
	putLogs(b, s, self.ID(), b.N)
	check(b, s.Close())
	w.start("news", "p0.example") // what any peer keeps
	before, cpu, began := inUse(), computing(b), time.Now()
	b.ResetTimer()
	watched := new(watchedFeeds)
	n := w.start("sport", "p1.example", func(c *Config) { c.Data, c.Interval, c.Logger = data, 0, slog.New(watched) })
	b.ReportMetric(time.Since(began).Seconds(), "s/ready")
	ready := computing(b)
	patiently(b, "all are watched", func() bool { return watched.Load() >= int64(b.N) && n.Ready() })
	b.StopTimer()
	b.ReportMetric(time.Since(began).Seconds(), "s/watched")
	b.ReportMetric(float64((ready-cpu).Microseconds())/float64(b.N), "cpu-µs/feed-ready")
	b.ReportMetric(float64((computing(b)-cpu).Microseconds())/float64(b.N), "cpu-µs/feed-watched")
	b.ReportMetric((inUse()-before)/float64(b.N), "B/feed-watched")
	patiently(b, "all are indexed", func() bool { rows, whole := n.history.Indexed(); return whole && rows >= b.N })
	b.ReportMetric(time.Since(began).Seconds(), "s/indexed")
	b.ReportMetric(float64((computing(b)-cpu).Microseconds())/float64(b.N), "cpu-µs/feed-indexed")
	last := 0.0
	patiently(b, "memory stays as it is", func() bool {
		was := last
		last = inUse()
		return math.Abs(last-was) < 1e5
	})
	b.ReportMetric((last-before)/float64(b.N), "B/feed")
}

// watchedFeeds reads from the log how many feeds are watched after the start.
type watchedFeeds struct{ atomic.Int64 }

func (*watchedFeeds) Enabled(context.Context, slog.Level) bool { return true }
func (w *watchedFeeds) WithAttrs([]slog.Attr) slog.Handler     { return w }
func (w *watchedFeeds) WithGroup(string) slog.Handler          { return w }

func (w *watchedFeeds) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "all feeds are watched" {
		r.Attrs(func(a slog.Attr) bool { w.Store(a.Value.Int64()); return false })
	}
	return nil
}

// patiently waits for what may take minutes, and looks once in two seconds: the
// store gives memory back after one.
func patiently(b *testing.B, what string, is func() bool) {
	b.Helper()
	look := time.NewTicker(2 * time.Second)
	defer look.Stop()
	late := time.NewTimer(20 * time.Minute)
	defer late.Stop()
	for !is() {
		select {
		case <-look.C:
		case <-late.C:
			b.Fatal("never: " + what)
		}
	}
}

// putLogs gives each of the feeds that putFeeds puts an entry.
func putLogs(b *testing.B, s *store.Store, publisher feedring.PeerID, feeds int) {
	now := time.Now()
	items := make([]store.Item, 0, 1000)
	for i := range feeds {
		ref := feedring.FeedRef{URL: feedAt(i).URL, Publisher: publisher}
		items = append(items, store.Item{
			Ref: ref, Position: feedring.Position{Epoch: 1_700_000_000, Sequence: 1}, ID: feedring.NewEntryID(ref.URL, "1", "", ""), Version: 1,
			Provider: feedAt(i).Provider, Private: true, Published: now, Seen: now, Hash: sha256.Sum256([]byte(ref.URL)), Payload: []byte("an entry"),
		})
		if len(items) == cap(items) || i == feeds-1 {
			check(b, s.Append(b.Context(), items))
			items = items[:0]
		}
	}
}
