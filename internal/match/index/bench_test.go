package index

import (
	"fmt"
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
	load  fromWorkload
}

var last loaded

func load(b *testing.B, subs int) *loaded {
	b.Helper()
	if last.subs == subs {
		return &last
	}
	last = loaded{}
	l := loaded{subs: subs, load: newWorkload(1)}
	before := heap()
	l.index = New()
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
				b.ReportMetric(l.bytes, "bytes/sub")
				b.ReportMetric(float64(times[len(times)/10]), "p10-ns")
				b.ReportMetric(float64(times[len(times)/2]), "p50-ns")
				b.ReportMetric(float64(times[len(times)*9/10]), "p90-ns")
				b.ReportMetric(float64(matches)/float64(i), "matches")
			})
		}
	}
}

// BenchmarkMatchTokens is the part of BenchmarkMatch that folds, splits and looks
// words up.
func BenchmarkMatchTokens(b *testing.B) {
	each(b, 1_000_000, func(b *testing.B, l *loaded) func(e *feedring.Entry) int {
		m := l.index.NewMatcher()
		return func(e *feedring.Entry) int {
			d := docOf(e)
			m.read(&d, l.index.now.Load().dict)
			for _, t := range m.words {
				m.set[t] = 0
			}
			return len(m.words)
		}
	})
}

// BenchmarkMatchText is the part of BenchmarkMatch that folds.
func BenchmarkMatchText(b *testing.B) {
	each(b, 1_000_000, func(b *testing.B, l *loaded) func(e *feedring.Entry) int {
		return func(e *feedring.Entry) int {
			d := docOf(e)
			return len(d.Text)
		}
	})
}

// BenchmarkMatchOwners is BenchmarkMatch that goes through all subscriptions of
// the groups as well.
func BenchmarkMatchOwners(b *testing.B) {
	each(b, 1_000_000, func(b *testing.B, l *loaded) func(e *feedring.Entry) int {
		m := l.index.NewMatcher()
		return func(e *feedring.Entry) int {
			d := docOf(e)
			m.Match(&d)
			n := 0
			for range m.IDs() {
				n++
			}
			return n
		}
	})
}

// BenchmarkMatch folds and splits an entry and finds the groups that it matches;
// "matches" counts these.
func BenchmarkMatch(b *testing.B) {
	each(b, 10_000_000, func(b *testing.B, l *loaded) func(e *feedring.Entry) int {
		m := l.index.NewMatcher()
		return func(e *feedring.Entry) int {
			d := docOf(e)
			return m.Match(&d)
		}
	})
}

// BenchmarkMatchChange changes an index that grows to a million
// subscriptions and shrinks to nothing, one at a time, with all the merging and
// packing that this brings about. It counts processor time.
func BenchmarkMatchChange(b *testing.B) {
	const subs, together = 1_000_000, 2_000
	spent := make(map[string]time.Duration)
	interests, ids := make([]Interest, together), make([]ID, 0, subs)
	runs := 0
	for b.Loop() {
		ix, w := New(), newWorkload(1)
		for ids = ids[:0]; len(ids) < subs; {
			for i := range interests {
				interests[i] = w.interest()
			}
			start := computing()
			for i := range interests {
				id, err := ix.Insert(interests[i])
				if err != nil {
					b.Fatal(err)
				}
				ids = append(ids, id)
			}
			spent["inserts/s"] += computing() - start
		}
		w.Rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		start := computing()
		for _, id := range ids {
			ix.Delete(id)
		}
		spent["deletes/s"] += computing() - start
		runs++
	}
	for unit, t := range spent {
		b.ReportMetric(float64(runs)*subs/t.Seconds(), unit)
	}
}

// BenchmarkMatchLoad is the insertions of BenchmarkMatchChange all at once, as at a
// start.
func BenchmarkMatchLoad(b *testing.B) {
	const subs, together = 1_000_000, 2_000
	var spent time.Duration
	interests := make([]Interest, together)
	runs := 0
	for b.Loop() {
		ix, w := New(), newWorkload(1)
		start, making := computing(), time.Duration(0)
		ix.InsertAll(func(yield func(Interest) bool) {
			for range subs / together {
				from := computing()
				for i := range interests {
					interests[i] = w.interest()
				}
				making += computing() - from
				for i := range interests {
					if !yield(interests[i]) {
						return
					}
				}
			}
		}, func(_ ID, err error) {
			if err != nil {
				b.Fatal(err)
			}
		})
		spent += computing() - start - making
		runs++
	}
	b.ReportMetric(float64(runs)*subs/spent.Seconds(), "inserts/s")
}
