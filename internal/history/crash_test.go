package history

import (
	"context"
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
