package store

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/schema"
	"github.com/feedring/feedring/internal/store/values"
)

// TestJournal names each index row that an append makes, in the order of the
// transactions, across a new beginning and trims; what makes none is not told.
func TestJournal(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	r := random(11)
	var want [][]Item
	for n := range 6 {
		items := []Item{makeItem(r, 0, 2*n), makeItem(r, 1, 2*n+1)}
		mustAppend(t, s, items...)
		want = append(want, items)
		mustAppend(t, s, items...) // again makes no row
		select {
		case <-s.News():
		default:
			t.Fatal("no news of an append")
		}
		if n == 2 {
			check(t, s.Close())
			s = open(t, dir, Options{})
		}
		if n == 3 {
			check(t, s.TrimJournal(ctx, 3))
		}
	}
	late := want[5][0]
	late.Position = feedring.Position{Sequence: 1}
	mustAppend(t, s, late) // a version that is older than the newest makes no row
	if s.Journaled() != 6 {
		t.Fatalf("%d journal rows", s.Journaled())
	}
	check(t, s.Read(func(r *Reader) error {
		for n := range uint64(7) {
			keys, err := r.Journal(n + 1)
			if n < 2 || n == 6 {
				if !errors.Is(err, ErrNotFound) {
					t.Errorf("row %d: %v, %v", n+1, keys, err)
				}
				continue
			}
			check(t, err)
			for i, it := range want[n] {
				number, ok := r.Ref(it.Ref)
				if k := rows.KeyOf(it.Published, rows.RefID(number), it.Position); !ok || i >= len(keys) || keys[i] != k {
					t.Errorf("row %d is %v, want %v", n+1, keys, k)
				}
			}
		}
		return nil
	}))
	check(t, s.TrimJournal(ctx, math.MaxUint64))
	check(t, s.Close())
	if s = open(t, dir, Options{}); s.Journaled() != 6 {
		t.Errorf("after all was trimmed the journal stands at %d", s.Journaled())
	}
}

// TestReader walks over rows and finds them, and searches among those that it
// is told, which may be gone.
func TestReader(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	r := random(12)
	var items []Item
	for n := range 9 {
		items = append(items, makeItem(r, n%3, n))
	}
	mustAppend(t, s, items...)
	var keys []RowKey
	check(t, s.Read(func(r *Reader) error {
		return r.Rows(RowKey{}, func(k RowKey, row *Row) bool {
			keys = append(keys, k)
			if it := items[9-len(keys)]; string(row.Text) != string(it.Text) || string(row.Provider) != string(it.Provider) {
				t.Errorf("row %d holds another text", len(keys))
			}
			return len(keys) < 8
		})
	}))
	if len(keys) != 8 || !slices.IsSortedFunc(keys, RowKey.Compare) {
		t.Fatalf("rows at %v", keys)
	}
	check(t, s.Forget(ctx, items[8].Ref)) // rows 0, 3 and 6
	check(t, s.Read(func(r *Reader) error {
		for i, k := range keys {
			if there, err := r.Has(k); err != nil || there == (i%3 == 0) {
				t.Errorf("row %d is there: %v, %v", i, there, err)
			}
		}
		among := func(yield func(RowKey, error) bool) {
			for _, i := range []int{0, 1, 2, 3, 5, 7} {
				if !yield(keys[i], nil) {
					return
				}
			}
		}
		got, next, err := r.Among(ctx, Search{Limit: 3}, among)
		check(t, err)
		same(t, "among", got, []Item{items[7], items[6], items[3]})
		if next == "" {
			t.Error("no next page")
		}
		var matching []RowKey
		q := Search{Until: items[6].Published}
		first, _, err := q.Bounds()
		check(t, err)
		for k, err := range r.Matching(ctx, q, first) {
			check(t, err)
			matching = append(matching, k)
		}
		// published before items[6], without those of the feed that is forgotten
		if want := []RowKey{keys[4], keys[5], keys[7]}; len(matching) != 4 || !slices.Equal(matching[:3], want) {
			t.Errorf("matching are %v, want %v and one more", matching, want)
		}
		return nil
	}))
}

// TestRowKeyNext has nothing between a key and the next one.
func TestRowKeyNext(t *testing.T) {
	const most = math.MaxUint64
	for k, want := range map[RowKey]RowKey{
		{Second: 1, Nano: 2, Ref: 3, Epoch: 4, Sequence: 5}:                            {Second: 1, Nano: 2, Ref: 3, Epoch: 4, Sequence: 6},
		{Second: 1, Nano: 2, Ref: 3, Epoch: 4, Sequence: most}:                         {Second: 1, Nano: 2, Ref: 3, Epoch: 5, Sequence: 0},
		{Second: 1, Nano: 2, Ref: 3, Epoch: most, Sequence: most}:                      {Second: 1, Nano: 2, Ref: 4, Epoch: 0, Sequence: 0},
		{Second: 1, Nano: 2, Ref: math.MaxUint32, Epoch: most, Sequence: most}:         {Second: 1, Nano: 3, Ref: 0, Epoch: 0, Sequence: 0},
		{Second: 1, Nano: math.MaxUint32, Ref: 1<<32 - 1, Epoch: most, Sequence: most}: {Second: 2, Nano: 0, Ref: 0, Epoch: 0, Sequence: 0},
	} {
		if got := k.Next(); got != want {
			t.Errorf("after %v comes %v, not %v", k, got, want)
		}
	}
}

// TestDeleteRange deletes exactly what is between, in as many transactions as
// it takes.
func TestDeleteRange(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	var changes []Change
	for n := range 5000 {
		changes = append(changes, Change{Key: fmt.Sprintf("%04d", n), Value: []byte{1}})
	}
	check(t, s.Write(ctx, BucketHistory, changes))
	check(t, s.Put(ctx, BucketPeer, "1000", nil))
	check(t, s.DeleteRange(ctx, BucketHistory, "0500", "4999"))
	left := 0
	for r, err := range s.List(BucketHistory) {
		check(t, err)
		if left++; r.Key >= "0500" && r.Key < "4999" {
			t.Fatalf("%s is left", r.Key)
		}
	}
	if _, err := s.Value(BucketPeer, "1000"); left != 501 || err != nil {
		t.Errorf("%d records are left, of another bucket: %v", left, err)
	}
}

// TestOlder takes a store over that a program without the journal wrote, so
// that such a program refuses it from then on.
func TestOlder(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	check(t, s.db.Update(func(txn *badger.Txn) error { return txn.Set([]byte{rows.KeySchema}, []byte{0, 0, 0, 1}) }))
	check(t, s.Close())
	s = open(t, dir, Options{})
	check(t, s.view(func(txn values.Txn) error {
		row, err := get(txn, []byte{rows.KeySchema})
		if err != nil || row[3] != schema.Version {
			t.Errorf("version %v, %v", row, err)
		}
		return nil
	}))
}
