package history

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
)

// TestSeenAtOnce finds each entry as soon as it is acknowledged, while the
// index works beside.
func TestSeenAtOnce(t *testing.T) {
	s := openStore(t, t.TempDir())
	h, err := open(s, quiet, tiny)
	check(t, err)
	h.start()
	defer h.Close()
	var all sync.WaitGroup
	for f := range 3 {
		all.Go(func() {
			for n := range 60 {
				word := fmt.Sprintf("word%dx%d", f, n)
				it := makeItem(f, n, textOf("title "+word, "content"))
				if err := s.Append(ctx, []store.Item{it}); err != nil {
					t.Error(err)
					return
				}
				for _, words := range []string{word, "title content " + word, "NOT nothing"} {
					items, _, err := h.Search(ctx, store.Search{Words: parse(t, words), Refs: []feedring.FeedRef{it.Ref}, Limit: 1})
					if err != nil || len(items) != 1 || items[0].ID != it.ID {
						t.Errorf("%s: %d items, %v", words, len(items), err)
						return
					}
				}
			}
		})
	}
	all.Wait()
}

// TestSettles has all rows in segments in the end, but for a tail that is not
// full, and few segments that are small; none holds what went away, and the
// journal is short.
func TestSettles(t *testing.T) {
	w := &world{T: t, r: random(6), dir: t.TempDir()}
	w.open()
	for range 300 {
		check(t, w.s.Append(ctx, w.items()))
		settle(t, w.h)
	}
	segments := w.h.state.Load().segments
	sizes := [3]int{}
	for _, s := range segments {
		sizes[w.h.size(s)]++
	}
	if len(segments) < 8 || sizes[0] >= mergeAt || sizes[1] >= mergeAt {
		t.Errorf("%v segments of each size", sizes)
	}
	w.compare()
	_, err := w.s.Prune(ctx, start.AddDate(1, 0, 0), func(feedring.FeedRef) bool { return false })
	check(t, err)
	w.opened()
	settle(t, w.h)
	if n := len(w.h.state.Load().segments); n != 0 {
		t.Errorf("%d segments of nothing", n)
	}
	if n := len(w.records()); n != 1 {
		t.Errorf("%d records are left", n)
	}
	var journal int
	check(t, w.s.Read(func(r *store.Reader) error {
		for n := range w.s.Journaled() {
			if _, err := r.Journal(n + 1); err == nil {
				journal++
			}
		}
		return nil
	}))
	if journal > tiny.tailDocs {
		t.Errorf("%d journal rows are left", journal)
	}
}

// TestSettlesWithManyFeeds has an entry of each of many feeds: segments that hold
// as many logs as they may are not made anew for ever.
func TestSettlesWithManyFeeds(t *testing.T) {
	s := openStore(t, t.TempDir())
	few := tiny
	few.docs, few.logs = 600, 30
	h, err := open(s, quiet, few)
	check(t, err)
	const feeds = 120
	for f := range feeds {
		check(t, s.Append(ctx, []store.Item{makeItem(f, f, textOf("title", "content"))}))
	}
	steps := 0
	for more := true; more; steps++ {
		more, err = h.step(ctx)
		check(t, err)
		if steps == 10*feeds {
			t.Fatalf("%d steps for %d rows, and no end", steps, feeds)
		}
	}
	if n := len(h.state.Load().segments); n > 2*feeds/few.logs+mergeAt {
		t.Errorf("%d segments", n)
	}
	items, _, err := h.Search(ctx, store.Search{Words: parse(t, "title"), Limit: 2 * feeds})
	if check(t, err); len(items) != feeds {
		t.Errorf("%d entries are found", len(items))
	}
}

// TestOldStore indexes what was stored before there was a journal or an index.
func TestOldStore(t *testing.T) {
	w := &world{T: t, r: random(7), dir: t.TempDir()}
	w.s = openStore(t, w.dir)
	for range 60 {
		check(t, w.s.Append(ctx, w.items()))
	}
	check(t, w.s.TrimJournal(ctx, w.s.Journaled()))
	w.opened()
	w.compare()
	for more := true; more; {
		var err error
		more, err = w.h.step(ctx)
		check(t, err)
		w.compare() // segments and rows that are in none yet
	}
	if st := w.h.state.Load(); st.rest != nil || len(st.segments) < 2 {
		t.Errorf("%d segments, rest %v", len(st.segments), st.rest)
	}
}

// TestClosed tells that the store is closed.
func TestClosed(t *testing.T) {
	s := openStore(t, t.TempDir())
	h, err := Open(s, quiet)
	check(t, err)
	h.Close()
	h.Close()
	check(t, s.Close())
	if _, _, err := h.Search(ctx, store.Search{}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("search of a closed store: %v", err)
	}
	if _, err := Open(s, quiet); err == nil {
		t.Error("the index of a closed store was opened")
	}
}

// TestRebuildTellsHowFarItIs throws an index away while it is worked on, and
// finds every row in the one that comes.
func TestRebuildTellsHowFarItIs(t *testing.T) {
	s := openStore(t, t.TempDir())
	h, err := open(s, quiet, tiny)
	check(t, err)
	settle(t, h)
	const rows = 100
	for n := range rows {
		check(t, s.Append(ctx, []store.Item{makeItem(0, n, textOf("title", "content"))}))
	}
	settle(t, h)
	if n, whole := h.Indexed(); n != rows || !whole {
		t.Fatalf("%d rows are in the index, whole: %v", n, whole)
	}
	before := h.state.Load()
	h.Rebuild()
	if n, whole := h.Indexed(); n != 0 || whole {
		t.Errorf("thrown away, it holds %d rows, whole: %v", n, whole)
	}
	if h.reset(before, errDamaged) {
		t.Error("what took the place of another was thrown away as that")
	}
	for last := -1; ; {
		more, err := h.step(ctx)
		check(t, err)
		n, whole := h.Indexed()
		if n < last {
			t.Fatalf("it holds %d rows after %d", n, last)
		}
		if last = n; whole {
			break
		}
		if !more {
			t.Fatalf("it ends with %d rows", n)
		}
	}
	if n, _ := h.Indexed(); n != rows {
		t.Errorf("%d rows are in the index", n)
	}
}
