package keyed_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/feedring/feedring/internal/keyed"
)

type row struct {
	name  string
	value int
}

func name(r *row) string { return r.name }

// TestSetIsAMap does the same to a set and to a map, at random.
func TestSetIsAMap(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		s, want := keyed.New(name), map[string]*row{}
		for step := range 2000 {
			k := fmt.Sprint(random.IntN(1 + int(seed)*20))
			if random.IntN(5) < 2 {
				s.Delete(k)
				delete(want, k)
			} else {
				r := &row{k, step}
				s.Put(r)
				want[k] = r
			}
			if got := s.Get(k); got != want[k] || s.Len() != len(want) {
				t.Fatalf("seed %d, step %d: %q is %v, not %v; %d, not %d", seed, step, k, got, want[k], s.Len(), len(want))
			}
		}
		got := map[string]*row{}
		for r := range s.All() {
			got[r.name] = r
		}
		for k, r := range want {
			if s.Get(k) != r {
				t.Errorf("seed %d: %q is lost", seed, k)
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("seed %d: all are %d, not %d", seed, len(got), len(want))
		}
	}
}

func TestSetEmpty(t *testing.T) {
	s := keyed.New(name)
	s.Delete("x")
	if s.Get("x") != nil || s.Len() != 0 {
		t.Error("something is in it")
	}
	for range s.All() {
		t.Error("something is in it")
	}
}

func BenchmarkSet(b *testing.B) {
	const rows = 1_000_000
	all := make([]row, rows)
	for i := range all {
		all[i].name = fmt.Sprintf("https://example.org/%d", i)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := keyed.New(name)
	for i := range all {
		s.Put(&all[i])
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	i := 0
	for b.Loop() {
		if s.Get(all[i].name) == nil {
			b.Fatal("lost")
		}
		i = (i + 7919) % rows
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/rows, "B/row")
}
