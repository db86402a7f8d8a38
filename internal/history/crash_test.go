package history

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
)

// fuse is a context that ends after it was asked so many times: before each
// write there is such a time, so that all of them can be the last.
type fuse struct {
	context.Context
	left int
}

func (f *fuse) Err() error {
	if f.left--; f.left < 0 {
		return context.Canceled
	}
	return nil
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

// busy leaves work of all kinds to do: a tail to flush, small segments to
// merge, a large one whose rows went away.
func (w *world) busy() {
	for range 8 {
		var items []store.Item
		for range 5 {
			items = append(items, w.items()...)
		}
		check(w, w.s.Append(ctx, items))
		if w.h.state.Load().rest != nil {
			settle(w, w.h)
		}
	}
	_, err := w.s.Prune(ctx, start.Add(60*time.Minute), func(feedring.FeedRef) bool { return false })
	check(w, err)
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

func (w *world) damaged(how string) {
	w.Helper()
	if w.r.IntN(2) == 0 {
		w.opened()
	}
	w.compare()
	settle(w, w.h)
	w.compare()
	if w.Failed() {
		w.Fatal(how)
	}
}

func (w *world) records() (all []store.Record) {
	for rec, err := range w.s.List(store.BucketHistory) {
		check(w, err)
		all = append(all, rec)
	}
	return all
}

// TestJournalLost finds an index that says more than the store: it is not of
// this store, or of a copy that is older.
func TestJournalLost(t *testing.T) {
	w := &world{T: t, r: random(5), dir: t.TempDir()}
	w.open()
	w.busy()
	settle(t, w.h)
	st := *w.h.state.Load()
	st.flushed += 1000
	check(t, w.h.save(ctx, &st))
	w.opened()
	if st := w.h.state.Load(); len(st.segments) > 0 || st.rest == nil {
		t.Errorf("the index is trusted: %+v", st)
	}
	w.damaged("journal")
}
