package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
)

type world struct {
	*testing.T
	r   *rand.Rand
	dir string
	s   *store.Store
	h   *History
	n   int // entries made
}

func (w *world) open() {
	w.s = openStore(w, w.dir)
	w.opened()
}

func (w *world) opened() {
	var err error
	w.h, err = open(w.s, quiet, tiny)
	check(w, err)
}

func (w *world) act() {
	switch w.r.IntN(26) {
	case 0:
		before := start.Add(time.Duration(w.n-w.r.IntN(100)) * time.Minute)
		_, err := w.s.Prune(ctx, before, func(ref feedring.FeedRef) bool { return ref == w.ref() })
		check(w, err)
	case 1:
		check(w, w.s.Forget(ctx, w.ref()))
	case 2:
		w.h.Rebuild()
	case 3:
		w.opened() // as after a kill of what is in memory
	case 4:
		check(w, w.s.Close())
		w.open()
	case 5, 6:
		w.spoil()
	case 7, 8:
		w.retract()
	default:
		check(w, w.s.Append(ctx, w.items()))
	}
}

// retract has a retraction come that is no part of a log, and names no version
// that is held.
func (w *world) retract() {
	it := makeItem(w.r.IntN(4), w.n, nil)
	it.ID = feedring.EntryID(fmt.Sprint(w.n - w.r.IntN(20)))
	it.Position, it.Retraction = feedring.Position{Epoch: 9, Sequence: uint64(w.n + 1)}, true
	it.Takes = []feedring.Taken{{Position: feedring.Position{Epoch: 8, Sequence: 1}}}
	check(w, w.s.Retract(ctx, it))
}

func (w *world) ref() feedring.FeedRef { return makeItem(w.r.IntN(4), 0, nil).Ref }

// items are new entries, new versions of entries, entries that are long past,
// and a few that were there before.
func (w *world) items() []store.Item {
	var items []store.Item
	for range 1 + w.r.IntN(5) {
		w.n++
		it := makeItem(w.r.IntN(4), w.n, textOf(randomText(w.r), randomText(w.r)))
		it.Theme = feedring.Vocabulary[w.r.IntN(3)]
		it.Private = w.r.IntN(6) == 0
		if it.Private {
			it.Theme = ""
		}
		switch w.r.IntN(6) {
		case 0:
			it.ID = feedring.EntryID(fmt.Sprint(w.n - w.r.IntN(20)))
		case 1:
			it.Published = it.Published.Add(-time.Duration(w.r.IntN(100)) * time.Minute)
		case 2:
			it.Published = start.Add(time.Duration(w.r.IntN(10)))
		case 3:
			it.Text = []byte("no text as it should be alpha  beta\ngamma \n delta")
		}
		items = append(items, it)
	}
	return items
}

// spoil loses or changes a record.
func (w *world) spoil() {
	var all []store.Record
	for rec, err := range w.s.List(store.BucketHistory) {
		check(w, err)
		all = append(all, rec)
	}
	if len(all) == 0 {
		return
	}
	rec := all[w.r.IntN(len(all))]
	if w.r.IntN(3) == 0 {
		check(w, w.s.Delete(ctx, store.BucketHistory, rec.Key))
		return
	}
	rec.Value[w.r.IntN(len(rec.Value))] ^= 1 << w.r.IntN(8)
	check(w, w.s.Put(ctx, store.BucketHistory, rec.Key, rec.Value))
}

func (w *world) search() store.Search {
	q := store.Search{Limit: 1 + w.r.IntN(30), Privacy: store.Privacy(w.r.IntN(3))}
	if w.r.IntN(3) == 0 {
		q.Theme = feedring.Vocabulary[w.r.IntN(3)]
	}
	if w.r.IntN(3) == 0 {
		q.Provider = [...]string{"site1", "site2.example", "Example", "www", "site1.www", ".site1", "none"}[w.r.IntN(7)]
	}
	if w.r.IntN(3) == 0 {
		q.Since = start.Add(time.Duration(w.r.IntN(1+w.n)) * time.Minute)
	}
	if w.r.IntN(3) == 0 {
		q.Until = start.Add(time.Duration(w.r.IntN(1+w.n)) * time.Minute)
	}
	if w.r.IntN(4) == 0 {
		q.Refs = []feedring.FeedRef{}
		for range w.r.IntN(3) {
			q.Refs = append(q.Refs, w.ref())
		}
	}
	if w.r.IntN(5) > 0 {
		q.Words = parse(w, randomWords(w.r, 3))
	}
	if w.r.IntN(4) == 0 {
		q.Accept = func(it *store.Item) bool { return it.ID[len(it.ID)-1]%3 > 0 }
	}
	return q
}

func (w *world) compare() (found int) {
	w.Helper()
	for range 3 {
		q := w.search()
		want, wantCursors := pages(w, w.s, q)
		got, cursors := pages(w, w.h, q)
		same(w, fmt.Sprintf("%s %+v", q.Words, q), got, want)
		if accept := q.Accept; accept != nil {
			q.Accept = nil
			all, _ := pages(w, w.s, q)
			all = slices.DeleteFunc(all, func(it store.Item) bool { return !accept(&it) })
			same(w, fmt.Sprintf("accepted of %+v", q), got, all)
			continue
		}
		if !slices.Equal(cursors, wantCursors) {
			w.Errorf("%s: pages end at %q, want %q", q.Words, cursors, wantCursors)
		}
		found += len(got)
	}
	return found
}

// TestJoinedAsRead makes segments of others' lists and of the rows that these name: both are
// the same, byte for byte.
func TestJoinedAsRead(t *testing.T) {
	for seed := range uint64(3) {
		w := &world{T: t, r: random(seed), dir: t.TempDir()}
		w.open()
		for range 30 {
			check(t, w.s.Append(ctx, w.items()))
			_, err := w.h.step(ctx)
			check(t, err)
		}
		settle(t, w.h)
		_, err := w.s.Prune(ctx, start.Add(20*time.Minute), func(feedring.FeedRef) bool { return false })
		check(t, err)

		old := w.h.state.Load().segments
		if len(old) < 2 {
			t.Fatalf("%d segments: nothing is joined", len(old))
		}
		joined, read := w.h.building(1000), w.h.building(2000)
		joined.limits, read.limits = defaultLimits, defaultLimits
		check(t, joined.join(ctx, old))
		var keys []store.RowKey
		check(t, w.s.Read(func(r *store.Reader) (err error) {
			for _, s := range old {
				if keys, err = (view{s, r, nil}).all(keys); err != nil {
					return err
				}
			}
			return nil
		}))
		check(t, read.addAll(ctx, sortedKeys(keys)))
		if len(joined.made) != 1 || len(read.made) != 1 {
			t.Fatalf("%d and %d segments, want one each", len(joined.made), len(read.made))
		}
		if got, want := w.bodies(joined.made[0]), w.bodies(read.made[0]); !slices.Equal(got, want) {
			t.Errorf("seed %d: joined %d records, read %d, and they differ", seed, len(got), len(want))
		}
		check(t, w.s.Close())
	}
}

// bodies are the records of a segment without their keys and sums.
func (w *world) bodies(s *segment) (all []string) {
	for rec, err := range w.s.List(store.BucketHistory) {
		check(w, err)
		if strings.HasPrefix(rec.Key, segmentKey(s.id)) {
			all = append(all, rec.Key[len(segmentKey(s.id)):]+string(rec.Value[:len(rec.Value)-sumLen]))
		}
	}
	return all
}
