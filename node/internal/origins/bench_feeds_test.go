package origins

import (
	"math/rand/v2"
	"net/http"
	"runtime"
	"testing"

	"github.com/feedring/feedring/internal/origin/watch"
	"github.com/feedring/feedring/internal/store"
)

// BenchmarkManyFeeds starts with b.N private feeds that were fetched before,
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
	l := newSiteOfFeeds(b, s, p)
	l.watcher, err = watch.New(watch.Config{
		Client: http.DefaultClient, Policy: watch.NewBudget(watch.ExpectedLoss, watch.MeanInterval, rand.NewPCG(1, 2)), Handler: l,
	})
	check(b, err)
	l.begin(b.Context())
	b.StopTimer()
	b.ReportMetric(float64((computing(b)-cpu).Microseconds())/float64(b.N), "cpu-µs/feed")
	b.ReportMetric((inUse()-before)/float64(b.N), "B/feed")
	runtime.KeepAlive(l)
}
