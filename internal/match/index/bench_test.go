package index

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// loaded is an index of a number of the workload's subscriptions, built once
// for all benchmarks that follow each other on it.
type loaded struct {
	subs  int
	index *Index
	bytes float64 // a subscription
	load  *workload
}

var last loaded

func load(b *testing.B, subs int) *loaded {
	b.Helper()
	if last.subs == subs {
		return &last
	}
	last = loaded{}
	before := heap()
	l := loaded{subs: subs, index: New(), load: newWorkload(1)}
	for range subs {
		if _, err := l.index.Insert(l.load.interest()); err != nil {
			b.Fatal(err)
		}
	}
	l.index.Compact()
	l.bytes = float64(heap()-before) / float64(subs)
	last = l
	return &last
}

// heap is what is in use once everything else is collected.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// computing is the processor time of this process so far.
func computing() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

var sizes = []struct {
	name string
	subs int
}{{"1M", 1_000_000}, {"10M", 10_000_000}}

var entryWords = []int{61, 637, 2000}

// each runs a benchmark for every size of index and entry, and reports the
// median and the ninetieth percentile of single matches.
func each(b *testing.B, most int, prepare func(b *testing.B, l *loaded) func(e *feedring.Entry) (matches int)) {
	for _, size := range sizes {
		if size.subs > most || testing.Short() && size.subs > 1_000_000 {
			continue
		}
		for _, words := range entryWords {
			b.Run(fmt.Sprintf("subs=%s/words=%d", size.name, words), func(b *testing.B) {
				l := load(b, size.subs)
				match := prepare(b, l)
				entries := make([]*feedring.Entry, 200_000/words)
				for i := range entries {
					entries[i] = l.load.entry(words)
				}
				times := make([]time.Duration, 0, 1<<16)
				matches, i := 0, 0
				for b.Loop() {
					start := time.Now()
					n := match(entries[i%len(entries)])
					times = append(times, time.Since(start))
					matches += n
					i++
				}
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)/10]), "p10-ns")
				b.ReportMetric(float64(times[len(times)/2]), "p50-ns")
				b.ReportMetric(float64(times[len(times)*9/10]), "p90-ns")
				b.ReportMetric(float64(matches)/float64(i), "matches")
			})
		}
	}
}

// BenchmarkMatch folds and splits an entry and finds the groups it matches.
// "matches" counts their owners afterwards.
func BenchmarkMatch(b *testing.B) {
	each(b, 10_000_000, func(b *testing.B, l *loaded) func(e *feedring.Entry) int {
		m := l.index.NewMatcher()
		b.ReportMetric(l.bytes, "bytes/sub")
		return func(e *feedring.Entry) int {
			d := DocOf(e)
			return m.Match(&d)
		}
	})
}

func BenchmarkTokens(b *testing.B) {
	each(b, 1_000_000, func(b *testing.B, l *loaded) func(e *feedring.Entry) int {
		m := l.index.NewMatcher()
		return func(e *feedring.Entry) int {
			d := DocOf(e)
			m.read(&d, l.index.now.Load().dict)
			for _, t := range m.words {
				m.set[t] = 0
			}
			return len(m.words)
		}
	})
}

func BenchmarkText(b *testing.B) {
	each(b, 1_000_000, func(b *testing.B, l *loaded) func(e *feedring.Entry) int {
		return func(e *feedring.Entry) int {
			d := DocOf(e)
			return len(d.Text)
		}
	})
}

// BenchmarkInsert and BenchmarkDelete change an index that grows to a million
// subscriptions and shrinks to nothing, one at a time, with all the merging and
// packing that this brings about. They count processor time.
func BenchmarkInsert(b *testing.B) { benchmarkChange(b, "inserts/s") }

func BenchmarkDelete(b *testing.B) { benchmarkChange(b, "deletes/s") }

func benchmarkChange(b *testing.B, unit string) {
	const subs = 1_000_000
	interests := make([]Interest, subs)
	for i, w := 0, newWorkload(1); i < subs; i++ {
		interests[i] = w.interest()
	}
	ids := make([]ID, subs)
	spent := make(map[string]time.Duration)
	runs := 0
	for b.Loop() {
		ix := New()
		start := computing()
		for i := range interests {
			ids[i], _ = ix.Insert(interests[i])
		}
		spent["inserts/s"] += computing() - start
		rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		start = computing()
		for _, id := range ids {
			ix.Delete(id)
		}
		spent["deletes/s"] += computing() - start
		runs++
	}
	b.ReportMetric(float64(runs)*subs/spent[unit].Seconds(), unit)
}
