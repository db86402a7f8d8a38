package personal

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// many makes so many personal feeds, each of its own one to four words, without
// waiting for the disk each time.
func (w *world) many(n int, random *rand.Rand) {
	w.manyOf(n, func(int) string {
		words := make([]string, 1+random.IntN(4))
		for j := range words {
			words[j] = word(random)
		}
		return strings.Join(words, " ")
	})
}

func (w *world) manyOf(n int, words func(i int) string) {
	w.subscribe(feedring.Query{Theme: "news", Words: "last"})
	r := w.room
	for i := range n {
		q, expr, err := canonical(feedring.Query{Theme: "news", Words: words(i)})
		check(w.t, err)
		r.changing.Lock()
		in := r.interestFor(newInterest(q, expr, false, false))
		in.owners++
		in.attempts = 1
		delete(r.due, in)
		r.list(&subscription{id: fmt.Sprintf("%016x", i), secret: hex.EncodeToString(random(18)), interest: in, words: q.Words, created: time.Now().UnixMilli()})
		r.changing.Unlock()
		if i%1000 == 0 {
			r.writing.discard()
		}
	}
	r.writing.discard()
	w.flushed()
}

// discard spares the disk what no benchmark reads.
func (w *writing) discard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done += uint64(len(w.waiting))
	w.waiting, w.bytes = nil, 0
	clear(w.rows)
}

// word draws from 50,000 words as texts do.
func word(random *rand.Rand) string { return fmt.Sprint("w", int(50_000*pow3(random.Float64()))) }

func pow3(x float64) float64 { return x * x * x }

func article(random *rand.Rand, n int) feedring.Entry {
	var words []string
	for range 61 {
		words = append(words, word(random))
	}
	return entry("P", "a.example", n, titled(strings.Join(words, " ")))
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkGive is the way of an entry from the store into the lists, and what
// so many personal feeds weigh once their lists are filled.
func BenchmarkGive(b *testing.B) {
	for _, subs := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("subs=%d", subs), func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 1))
			before := heap()
			w := newWorld(b)
			w.many(subs, random)
			w.room.matcher.plain.index.Compact()
			var took []time.Duration
			n := 0
			for b.Loop() {
				b.StopTimer()
				n++
				e := article(random, n)
				w.keep(e)
				began := time.Now()
				b.StartTimer()
				check(b, w.room.Stored(b.Context(), e.Ref(), time.Time{}))
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*9/10].Microseconds()), "p90-µs")
			b.ReportMetric(float64(w.room.listed)/float64(subs), "entries/feed")
			w.flushed()
			b.ReportMetric(float64(heap()-before)/float64(subs), "B/feed")
		})
	}
}

// BenchmarkFull is what personal feeds weigh whose lists are all full, each of
// an interest of its own: pairs of words, and entries that have all of them.
func BenchmarkFull(b *testing.B) {
	const subs, words = 100_000, 448 // which have 100,128 pairs
	var all []string
	for i := range words {
		all = append(all, fmt.Sprint("w", i))
	}
	for b.Loop() {
		before := heap()
		w := newWorld(b)
		first, second := 0, 0
		w.manyOf(subs, func(int) string {
			if second++; second == words {
				first++
				second = first + 1
			}
			return all[first] + " " + all[second]
		})
		for n := range feedring.DefaultLimit {
			e := entry("P", "a.example", n+1, titled(strings.Join(all, " ")+fmt.Sprint(" n", n)))
			w.keep(e)
			check(b, w.room.Stored(b.Context(), e.Ref(), time.Time{}))
		}
		w.flushed()
		if got := w.room.listed; got < subs*feedring.DefaultLimit {
			b.Fatalf("%d entries in %d lists", got, subs)
		}
		b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
	}
}
