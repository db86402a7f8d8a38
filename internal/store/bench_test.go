package store

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/feedring/feedring"
)

func BenchmarkAppend(b *testing.B) {
	s := open(b, b.TempDir(), Options{})
	r, n := random(1), 0
	for b.Loop() {
		mustAppend(b, s, makeItem(r, 0, n))
		n++
	}
}

// BenchmarkAppendShared has 32 callers, whose entries share syncs.
func BenchmarkAppendShared(b *testing.B) {
	s := open(b, b.TempDir(), Options{})
	var feeds atomic.Int64
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		f := int(feeds.Add(1))
		r, n := random(uint64(f)), 0
		for pb.Next() {
			mustAppend(b, s, makeItem(r, f, n))
			n++
		}
	})
}

// BenchmarkAppendBatch counts an entry as one operation, 100 a call.
func BenchmarkAppendBatch(b *testing.B) {
	s := open(b, b.TempDir(), Options{})
	r, n := random(1), 0
	items := make([]Item, 0, 100)
	for b.Loop() {
		items = append(items, makeItem(r, 0, n))
		if n++; len(items) == cap(items) {
			mustAppend(b, s, items...)
			items = items[:0]
		}
	}
}

func BenchmarkSearchNewest(b *testing.B) {
	s := open(b, b.TempDir(), Options{})
	fill(b, s, 20_000, 100)
	for b.Loop() {
		if items, _, err := s.Search(context.Background(), Search{}); err != nil || len(items) != 50 {
			b.Fatal(len(items), err)
		}
	}
}

func BenchmarkSearchWords100k(b *testing.B) {
	s := open(b, b.TempDir(), Options{})
	fill(b, s, 100_000, 200)
	q := Search{Words: parse(b, "word49990 word48000")}
	for b.Loop() {
		if _, _, err := s.Search(context.Background(), q); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkScan reads one feed's thousand entries in parts.
func BenchmarkScan(b *testing.B) {
	s := open(b, b.TempDir(), Options{})
	fill(b, s, 20_000, 100)
	ref := s.Refs()[0]
	for b.Loop() {
		var after feedring.Position
		for {
			items, err := s.Scan(context.Background(), ref, after, 100, 0)
			if err != nil {
				b.Fatal(err)
			}
			if len(items) == 0 {
				break
			}
			after = items[len(items)-1].Position
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s := open(b, dir, Options{})
	fill(b, s, 20_000, 100)
	s.Close()
	for b.Loop() {
		s, err := Open(dir, Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		s.Close()
		b.StartTimer()
	}
}
