//go:build !race

package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store"
)

// TestAgainstScan does random things to a store, lets the index do some of its
// work in between, and compares all pages of random searches with those of the
// store's own search, which looks at everything. Now and then both are closed
// and opened, records of the index are lost or change, or it is rebuilt.
func TestAgainstScan(t *testing.T) {
	found := 0
	for seed := range uint64(4) {
		w := &world{T: t, r: random(seed), dir: t.TempDir()}
		w.open()
		for range 200 {
			w.act()
			for range w.r.IntN(6) {
				_, err := w.h.step(ctx)
				check(t, err)
			}
			found += w.compare()
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		settle(t, w.h)
		found += w.compare()
		check(t, w.s.Close())
	}
	if found < 10_000 {
		t.Errorf("only %d found in all: the comparison is worth little", found)
	}
}

// TestKillAtAnyWrite ends the index's work before its first write, before its
// second, and so on, with nothing left of what was in memory. Each time the
// index that is opened then answers as the full scan does, at once, and after
// it went on.
func TestKillAtAnyWrite(t *testing.T) {
	for writes, done := 0, false; !done; writes++ {
		w := &world{T: t, r: random(3), dir: t.TempDir()}
		w.open()
		w.busy()
		f, err := &fuse{Context: ctx, left: writes}, error(nil)
		for more := true; more && err == nil; {
			more, err = w.h.step(f)
		}
		if done = err == nil; err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		w.opened()
		w.compare()
		check(t, w.s.Append(ctx, w.items()))
		w.compare()
		settle(t, w.h)
		w.compare()
		if t.Failed() {
			t.Fatalf("after %d writes", writes)
		}
		check(t, w.s.Close())
		if done && writes < 20 {
			t.Errorf("all work is done after %d writes: too few to try", writes)
		}
	}
}

// TestEachRecordDamaged changes each record of an index in turn, and takes each
// away: searches answer as before, and the index is whole again afterwards.
func TestEachRecordDamaged(t *testing.T) {
	w := &world{T: t, r: random(4), dir: t.TempDir()}
	w.open()
	var items []store.Item
	for len(items) < 400 {
		items = append(items, w.items()...)
	}
	check(t, w.s.Append(ctx, items))
	settle(t, w.h)
	for n := 0; ; n++ {
		records := w.records()
		if n >= len(records) {
			if n < 12 {
				t.Errorf("only %d records", n)
			}
			break
		}
		rec := records[n]
		check(t, w.s.Delete(ctx, store.BucketHistory, rec.Key))
		w.damaged(fmt.Sprintf("without record %q", rec.Key))
		rec = w.records()[min(n, len(w.records())-1)]
		rec.Value[w.r.IntN(len(rec.Value))]++
		check(t, w.s.Put(ctx, store.BucketHistory, rec.Key, rec.Value))
		w.damaged(fmt.Sprintf("record %q changed", rec.Key))
	}
}

// TestRealText asks real texts for words and phrases of their own and of each
// other.
func TestRealText(t *testing.T) {
	files, err := filepath.Glob("../../../shared/feeds/corpus/*.xml")
	if err != nil || len(files) == 0 {
		t.Skip("the corpus of real feeds is not here")
	}
	w := &world{T: t, r: random(8), dir: t.TempDir()}
	w.open()
	w.h.limits.weight = 200 << 10
	var texts [][]string
	var items []store.Item
	for i, name := range files {
		raw, err := os.ReadFile(name)
		check(t, err)
		half := len(raw) / 2
		it := makeItem(i%7, i, match.TextOf(&feedring.Entry{
			ContentHTML: string(raw[half:min(len(raw), half+3000)]), Provider: feedring.Provider(fmt.Sprintf("site%d.example", i%7)),
		}))
		it.Published = start.Add(time.Duration(i*7919%len(files)) * time.Hour)
		if items = append(items, it); len(items) == 40 || i == len(files)-1 {
			check(t, w.s.Append(ctx, items))
			items = nil
		}
		field, _, _ := strings.Cut(string(it.Text), "\n")
		if words := strings.Fields(field); len(words) > 20 {
			texts = append(texts, words)
		}
	}
	for w.h.state.Load().rest != nil || len(w.h.state.Load().segments) < 3 {
		_, err := w.h.step(ctx)
		check(t, err)
	}
	phrase := func(n int) string {
		text := texts[w.r.IntN(len(texts))]
		from := w.r.IntN(len(text) - n)
		return strings.Join(text[from:from+n], " ")
	}
	found := 0
	for range 400 {
		words := [...]string{
			phrase(1), phrase(2), fmt.Sprintf("%q", phrase(2)), fmt.Sprintf("%q %s", phrase(3), phrase(1)),
			phrase(1) + " OR " + phrase(1), phrase(1) + " NOT " + phrase(1), fmt.Sprintf("%s NOT %q", phrase(1), phrase(2)),
		}[w.r.IntN(7)]
		q := store.Search{Words: parse(t, words), Limit: 5 + w.r.IntN(50)}
		want, wantCursors := pages(t, w.s, q)
		got, cursors := pages(t, w.h, q)
		if same(t, words, got, want); !slices.Equal(cursors, wantCursors) {
			t.Errorf("%s: pages end at %q, want %q", words, cursors, wantCursors)
		}
		found += len(got)
	}
	if len(texts) < 30 || found < 400 {
		t.Errorf("only %d found in %d texts: the comparison is worth little", found, len(texts))
	}
}
