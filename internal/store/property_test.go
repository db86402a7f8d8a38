package store

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// TestAgainstDumb does the same random things to a store and to the dumb one,
// and compares all that can be asked. Now and then the store is closed and
// opened, or gives its memory back.
func TestAgainstDumb(t *testing.T) {
	for seed := range uint64(4) {
		r := random(seed)
		dir := t.TempDir()
		s, d := open(t, dir, Options{}), newDumb()
		restless(s)
		for range 120 {
			act(t, r, s, d)
			if r.IntN(15) == 0 {
				check(t, s.Close())
				s = open(t, dir, Options{})
				restless(s)
			}
			compare(t, r, s, d)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		check(t, s.Close())
	}
}

// restless has a store open its database anew, begin segments and move what is in
// them all the time.
func restless(s *Store) {
	s.trimmer.busy, s.upkeep.busy, s.values.Fill = 30_000, -1, 20_000
}

// act does one random thing to both.
func act(t *testing.T, r *rand.Rand, s, d keeper) {
	t.Helper()
	switch ref := makeItem(r, r.IntN(3), 0).Ref; r.IntN(10) {
	case 0:
		before := start.Add(time.Duration(r.IntN(60)) * time.Minute)
		keep := func(o feedring.FeedRef) bool { return o == ref }
		n, err := s.Prune(ctx, before, keep)
		m, _ := d.Prune(ctx, before, keep)
		if check(t, err); n != m {
			t.Errorf("pruned %d, want %d", n, m)
		}
	case 1:
		check(t, s.Forget(ctx, ref))
		check(t, d.Forget(ctx, ref))
	case 2:
		key := string(rune('a' + r.IntN(5)))
		check(t, s.Put(ctx, BucketFeed, key, []byte(ref.URL)))
		check(t, d.Put(ctx, BucketFeed, key, []byte(ref.URL)))
	default:
		items := randomItems(r)
		got, want := s.Append(ctx, items), d.Append(ctx, items)
		if (got == nil) != (want == nil) {
			t.Errorf("append: %v, want %v", got, want)
		}
	}
}

// randomItems draws from few positions, ids and times, so that all of them
// meet again. An item's hash depends on its position and, rarely, on chance.
func randomItems(r *rand.Rand) []Item {
	items := make([]Item, 1+r.IntN(8))
	for i := range items {
		f, n := r.IntN(3), r.IntN(60)
		it := makeItem(random(uint64(n)), f, n)
		it.ID = feedring.EntryID(rune('a' + n%17))
		it.Published = start.Add(time.Duration(n%7) * time.Hour)
		it.Private = n%5 == 0
		it.Theme = feedring.Vocabulary[n%2]
		if r.IntN(40) == 0 {
			it.Hash[0]++
		}
		items[i] = takingBack(it, f, n)
	}
	return items
}

// takingBack makes a retraction of some items, and what is left of one of others.
func takingBack(it Item, f, n int) Item {
	switch {
	case n >= 17 && n%3 == 0:
		taken := makeItem(random(uint64(n-17)), f, n-17) // another version of the same entry
		it.Text, it.Retraction = nil, true
		it.Takes = []feedring.Taken{{Position: taken.Position, Hash: taken.Hash, Seen: taken.Seen}}
	case n%11 == 5:
		it.Text, it.Tombstone = nil, true
	}
	return it
}

func compare(t *testing.T, r *rand.Rand, s, d keeper) {
	t.Helper()
	if got, want := s.Heads(), d.Heads(); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("heads %+v, want %+v", got, want)
	}
	for _, ref := range d.Refs() {
		after := feedring.Position{Epoch: 1, Sequence: uint64(r.IntN(60))}
		got, err := s.Scan(ctx, ref, after, 10, 0)
		check(t, err)
		want, _ := d.Scan(ctx, ref, after, 10, 0)
		same(t, "scan", got, want)
	}
	q := Search{Limit: 1 + r.IntN(20), Privacy: Privacy(r.IntN(3))}
	if r.IntN(2) == 0 {
		q.Theme = feedring.Vocabulary[r.IntN(2)]
	}
	if r.IntN(2) == 0 {
		q.Since = start.Add(time.Duration(r.IntN(4)) * time.Hour)
		q.Until = q.Since.Add(time.Duration(r.IntN(4)) * time.Hour)
	}
	if r.IntN(2) == 0 {
		q.Refs = d.Refs()[:r.IntN(1+len(d.Refs()))]
	}
	same(t, "search", pages(t, s, q), pages(t, d, q))
	if s, ok := s.(*Store); ok {
		checkOld(t, s)
		checkValues(t, s)
		got, _, err := among(s, q)
		check(t, err)
		want, _, _ := d.Search(ctx, q)
		same(t, "search among all places", got, want)
	}
	if got, want := slices.Collect(keys(s)), slices.Collect(keys(d)); !slices.Equal(got, want) {
		t.Errorf("records %v, want %v", got, want)
	}
}

func keys(s keeper) func(func(string) bool) {
	return func(yield func(string) bool) {
		for r, err := range s.List(BucketFeed) {
			if err != nil || !yield(r.Key) {
				return
			}
		}
	}
}
