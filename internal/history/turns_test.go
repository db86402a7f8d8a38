package history

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/store"
)

// TestSearchesThatLookAtEachEntryTakeTurns: few at once look, and each gives the
// store back between its turns.
func TestSearchesThatLookAtEachEntryTakeTurns(t *testing.T) {
	s := openStore(t, t.TempDir())
	w := newWorkload()
	var items []store.Item
	for n := range 50 {
		items = append(items, w.item(n))
	}
	check(t, s.Append(ctx, items))
	h, err := open(s, quiet, defaultLimits)
	check(t, err)
	pause := store.Pause{After: time.Nanosecond}
	q := store.Search{Accept: func(*store.Item) bool { time.Sleep(time.Microsecond); return false }, Pause: &pause}
	turns := 0
	for {
		page, next, err := h.search(ctx, q)
		check(t, err)
		if turns++; len(page) > 0 || !pause.Made {
			break
		}
		q.Cursor = next
	}
	if turns != 50 {
		t.Errorf("50 entries are looked at in %d turns", turns)
	}
	for range cap(h.looking) {
		h.looking <- struct{}{}
	}
	late, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := h.Search(late, store.Search{Accept: func(*store.Item) bool { return true }}); !errors.Is(err, context.Canceled) {
		t.Errorf("more look than have places: %v", err)
	}
}
