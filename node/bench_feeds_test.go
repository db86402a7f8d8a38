package node

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
)

// BenchmarkManyFeeds starts with b.N private feeds that were looked at before,
// and tells what each takes in memory here and in the watcher, its address
// included and its log's head left out, and how long a start takes, the disk
// included.
func BenchmarkManyFeeds(b *testing.B) {
	dir := b.TempDir()
	s, err := store.Open(dir, store.Options{Reserve: -1})
	check(b, err)
	putFeeds(b, s, b.N)
	check(b, s.Close()) // what it holds of writing is no feed's
	s, err = store.Open(dir, store.Options{Reserve: -1})
	check(b, err)
	defer s.Close()
	p := writer(nil, newSealer(b))
	p.Store = s
	before, cpu := inUse(), computing(b)
	b.ResetTimer()
	l := newLibrary(b, s, p)
	l.watcher, err = fetch.NewWatcher(fetch.WatcherConfig{
		Client: http.DefaultClient, Policy: fetch.NewBudget(fetch.ExpectedLoss, fetch.MeanInterval, rand.NewPCG(1, 2)), Handler: l,
	})
	check(b, err)
	l.begin(b.Context())
	b.StopTimer()
	b.ReportMetric(float64((computing(b)-cpu).Microseconds())/float64(b.N), "cpu-µs/feed")
	b.ReportMetric((inUse()-before)/float64(b.N), "B/feed")
	runtime.KeepAlive(l)
}

// BenchmarkManyFeedsPeer is the same of a whole peer, in a group of its own, whose
// private feeds have an entry each, which no index has yet: how long it takes to be
// ready, and until all are watched; what a feed takes of everything that the peer
// keeps, then, and when the index is built and the store has given back what it
// wrote with.
func BenchmarkManyFeedsPeer(b *testing.B) {
	w := newBenchNet(b)
	data := b.TempDir()
	id, err := host.LoadIdentity(data)
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
	n := w.start("sport", "p1.example", func(c *Config) { c.Data, c.Interval = data, 0 })
	b.ReportMetric(time.Since(began).Seconds(), "s/ready")
	ready := computing(b)
	patiently(b, "all are watched", func() bool { return n.origins.watcher.Len() > b.N })
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

func feedAt(i int) feedring.FeedSpec {
	return feedring.FeedSpec{
		URL:      fmt.Sprintf("https://site-%06d.example.org/blog/%d/feed.xml", i/2, i),
		Provider: feedring.Provider(fmt.Sprintf("site-%06d.example.org", i/2)),
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

func putFeeds(b *testing.B, s *store.Store, feeds int) {
	now := time.Now()
	st := fetch.State{
		Title: "A personal site", Validators: fetch.Validators{ETag: `"5e2f-61ab8a9e1c2c0"`},
		LastLook: now.Add(-time.Hour), LastSuccess: now.Add(-time.Hour), NextLook: now.Add(time.Hour), Interval: time.Hour,
	}
	state, err := st.MarshalBinary()
	check(b, err)
	var changes []store.Change
	for i := range feeds {
		spec := feedAt(i)
		value, err := json.Marshal(spec)
		check(b, err)
		changes = append(changes, store.Change{Key: addedFeed + spec.URL, Value: value}, store.Change{Key: feedState + spec.URL, Value: state})
	}
	check(b, s.Write(b.Context(), store.BucketFeed, changes))
}

func inUse() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
