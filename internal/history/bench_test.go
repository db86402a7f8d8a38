package history

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store"
)

// workload is the one that figures are compared on: texts of 61 words out of
// 50,000 by Zipf's law with exponent 1; queries without the 29 commonest.
type workload struct {
	r     *rand.Rand
	words []string
	sums  []float64 // of the words' shares, so far
}

const (
	vocabularySize = 50_000
	commonest      = 29
	benchFeeds     = 500
)

func newWorkload() *workload {
	w := &workload{r: random(1)}
	seen, sum := make(map[string]bool), 0.0
	for rank := 1; rank <= vocabularySize; rank++ {
		word := w.spell()
		for seen[word] {
			word = w.spell()
		}
		seen[word], sum = true, sum+1/float64(rank)
		w.words, w.sums = append(w.words, word), append(w.sums, sum)
	}
	return w
}

// spell makes up a word of seven letters in the mean.
func (w *workload) spell() string {
	var b strings.Builder
	for range 2 + w.r.IntN(3) {
		b.WriteByte("bcdfglmnprstvz"[w.r.IntN(14)])
		b.WriteByte("aeiou"[w.r.IntN(5)])
		if w.r.IntN(3) == 0 {
			b.WriteByte("lnrst"[w.r.IntN(5)])
		}
	}
	return b.String()
}

func (w *workload) draw(without int) string {
	low := 0.0
	if without > 0 {
		low = w.sums[without-1]
	}
	u := low + w.r.Float64()*(w.sums[vocabularySize-1]-low)
	return w.words[min(sort.SearchFloat64s(w.sums, u), vocabularySize-1)]
}

func (w *workload) item(n int) store.Item {
	var text strings.Builder
	for range 61 {
		text.WriteString(" " + w.draw(0))
	}
	f := w.r.IntN(benchFeeds)
	it := makeItem(f, n, match.Text([]byte(text.String()+" ")))
	it.Theme, it.Payload, it.Signature = feedring.Vocabulary[f%len(feedring.Vocabulary)], make([]byte, 64), make([]byte, 64)
	return it
}

// filled returns a store of n entries. With FEEDRING_BENCH_DIR it is kept there
// for the next time.
func filled(b *testing.B, w *workload, n int) *store.Store {
	dir := os.Getenv("FEEDRING_BENCH_DIR")
	if dir == "" {
		dir = b.TempDir()
	} else {
		dir = fmt.Sprintf("%s/%d", dir, n)
		check(b, os.MkdirAll(dir, 0o755))
	}
	s := openStore(b, dir)
	if stats, err := s.Stats(); err == nil && stats.Entries == n {
		return s
	}
	began := time.Now()
	for from := 0; from < n; from += 500 {
		items := make([]store.Item, 0, 500)
		for i := from; i < min(n, from+500); i++ {
			items = append(items, w.item(i))
		}
		check(b, s.Append(ctx, items))
	}
	b.Logf("stored %d entries in %v", n, time.Since(began).Round(time.Second))
	return s
}

// BenchmarkSearch100k and BenchmarkSearch1M build the index of a store, and ask
// it and the full scan the same questions, in one run.
func BenchmarkSearch100k(b *testing.B) { benchmarkSearch(b, 100_000) }
func BenchmarkSearch1M(b *testing.B) {
	if os.Getenv("FEEDRING_BENCH_DIR") == "" {
		b.Skip("FEEDRING_BENCH_DIR names no directory for 1.6 GB, which take minutes to write")
	}
	benchmarkSearch(b, 1_000_000)
}

func benchmarkSearch(b *testing.B, entries int) {
	w := newWorkload()
	s := filled(b, w, entries)
	h, err := open(s, quiet, defaultLimits)
	check(b, err)
	b.Run("build", func(b *testing.B) { benchmarkBuild(b, h, entries) })
	settle(b, h)
	newest := start.Add(time.Duration(entries) * time.Minute * 9 / 10)
	shapes := []struct {
		name string
		ask  func() store.Search
	}{
		{"two-words", func() store.Search { return store.Search{Words: w.two(b)} }},
		{"one-word", func() store.Search { return store.Search{Words: parse(b, w.draw(commonest))} }},
		{"or-not", func() store.Search {
			return store.Search{Words: parse(b, fmt.Sprintf("(%s OR %s) NOT %s", w.draw(commonest), w.draw(commonest), w.draw(commonest)))}
		}},
		{"facets-newest-tenth", func() store.Search {
			f := w.r.IntN(benchFeeds)
			return store.Search{
				Words: w.two(b), Since: newest, Theme: feedring.Vocabulary[f%len(feedring.Vocabulary)],
				Provider: fmt.Sprintf("site%d.example", f),
			}
		}},
	}
	for _, shape := range shapes {
		for name, from := range map[string]searcher{"index": h, "scan": s} {
			b.Run("ask/"+shape.name+"/"+name, func(b *testing.B) { benchmarkAsk(b, from, shape.ask) })
		}
	}
}

func (w *workload) two(b *testing.B) *match.Expr {
	return parse(b, w.draw(commonest)+" "+w.draw(commonest))
}

func benchmarkBuild(b *testing.B, h *History, entries int) {
	for b.Loop() {
		h.Rebuild()
		settle(b, h)
	}
	b.ReportMetric(float64(entries)*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
	size := 0
	for rec, err := range h.store.List(store.BucketHistory) {
		check(b, err)
		size += len(rec.Key) + len(rec.Value)
	}
	b.ReportMetric(float64(size)/float64(entries), "bytes/entry")
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "heap-MiB")
}

// benchmarkAsk asks a new question each time, for the newest 20. All are drawn
// before: a timer that is stopped and started stops the world, and what comes
// after pays for it. cpu is what the thread used of a processor: on a busy machine
// it is what can be compared.
func benchmarkAsk(b *testing.B, from searcher, ask func() store.Search) {
	questions := make([]store.Search, b.N)
	for i := range questions {
		questions[i] = ask()
		questions[i].Limit = 20
	}
	took, found := make([]time.Duration, 0, b.N), 0
	runtime.LockOSThread() // for threadTime
	defer runtime.UnlockOSThread()
	cpu := make([]time.Duration, 0, b.N)
	b.ResetTimer()
	for _, q := range questions {
		began, beganCPU := time.Now(), threadTime()
		items, _, err := from.Search(ctx, q)
		cpu = append(cpu, threadTime()-beganCPU)
		took = append(took, time.Since(began))
		check(b, err)
		found += len(items)
	}
	b.StopTimer()
	slices.Sort(took)
	slices.Sort(cpu)
	b.ReportMetric(float64(cpu[len(cpu)/2].Microseconds()), "cpu-p50-µs")
	b.ReportMetric(float64(cpu[len(cpu)*99/100].Microseconds()), "cpu-p99-µs")
	b.ReportMetric(float64(took[len(took)/10].Microseconds()), "p10-µs")
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(found)/float64(len(took)), "found")
}
