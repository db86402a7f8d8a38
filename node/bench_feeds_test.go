package node

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/feed"
	"github.com/feedring/feedring/internal/store"
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
	p.store = s
	before, cpu := inUse(), computing(b)
	b.ResetTimer()
	l := newLibrary(b, s, p)
	l.watcher, err = feed.NewWatcher(feed.WatcherConfig{
		Client: http.DefaultClient, Policy: feed.NewBudget(feed.ExpectedLoss, feed.MeanInterval, rand.NewPCG(1, 2)), Handler: l,
	})
	check(b, err)
	l.start()
	b.StopTimer()
	b.ReportMetric(float64((computing(b)-cpu).Microseconds())/float64(b.N), "cpu-µs/feed")
	b.ReportMetric((inUse()-before)/float64(b.N), "B/feed")
	runtime.KeepAlive(l)
}

func putFeeds(b *testing.B, s *store.Store, feeds int) {
	now := time.Now()
	st := feed.State{
		Title: "A personal site", Validators: feed.Validators{ETag: `"5e2f-61ab8a9e1c2c0"`},
		LastLook: now.Add(-time.Hour), LastSuccess: now.Add(-time.Hour), NextLook: now.Add(time.Hour), Interval: time.Hour,
	}
	state, err := st.MarshalBinary()
	check(b, err)
	var changes []store.Change
	for i := range feeds {
		spec := feedring.FeedSpec{URL: fmt.Sprintf("https://site-%06d.example.org/blog/%d/feed.xml", i/2, i), Provider: feedring.Provider(fmt.Sprintf("site-%06d.example.org", i/2))}
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
