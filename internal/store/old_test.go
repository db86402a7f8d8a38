package store

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/find"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/schema"
	"github.com/feedring/feedring/internal/store/values"
)

// checkOld has each entry in the log either in the index or told to be an old
// version, and none of what is not in the log. It returns how many are old.
func checkOld(t *testing.T, s *Store) (old int) {
	t.Helper()
	check(t, s.view(func(txn values.Txn) error {
		logged := make(map[string]bool)
		err := txn.Each([]byte{rows.KeyLog}, nil, func(row values.Row) (bool, error) {
			p, _ := rows.LogPosition(row.Key())
			id := rows.RefID(binary.BigEndian.Uint32(row.Key()[1:]))
			logged[string(rows.OldKey(id, p))] = true
			return true, row.Value(func(value []byte) error {
				r, err := rows.DecodeLog(value)
				check(t, err)
				was, err := find.IsOld(txn, id, p)
				check(t, err)
				_, err = txn.Get(rows.KeyOf(r.Published, id, p).Index())
				if listed := err == nil; !r.Tombstone && !r.Retraction && listed == was {
					t.Errorf("position %d of ref %d: in the index %v, old %v", p.Sequence, id, listed, was)
				}
				return nil
			})
		})
		check(t, err)
		return txn.Each([]byte{rows.KeyOld}, nil, func(row values.Row) (bool, error) {
			if old++; !logged[string(row.Key())] {
				t.Errorf("%x is not in the log", row.Key())
			}
			return true, nil
		})
	}))
	return old
}

// TestUpgradeMarksOld makes of a store one of version 2, that has no row for what
// is old, and opens it: it has them then, also where the first try was
// interrupted, and searches by a list of all places find what they found.
func TestUpgradeMarksOld(t *testing.T) {
	all := 0
	for seed := range uint64(6) {
		r := random(seed)
		dir := t.TempDir()
		s, d := open(t, dir, Options{}), newDumb()
		for range 12 {
			items := randomItems(r)
			if (s.Append(ctx, items) == nil) != (d.Append(ctx, items) == nil) {
				t.Fatal("one of them refused what the other took")
			}
		}
		before, n := checkOld(t, s), 0
		b := s.values.Begin(s.db)
		check(t, b.Each([]byte{rows.KeyOld}, nil, func(row values.Row) (bool, error) {
			if n++; seed%2 == 0 || n%2 == 0 {
				return true, b.Delete(row.KeyCopy(nil))
			}
			return true, nil
		}))
		check(t, b.Set([]byte{rows.KeySchema}, binary.BigEndian.AppendUint32(nil, 2)))
		check(t, b.Commit())
		check(t, s.Close())
		s = open(t, dir, Options{})
		if after := checkOld(t, s); after < before {
			t.Errorf("seed %d: %d old versions, %d before", seed, after, before)
		}
		all += n
		found, err := s.schema(s.db).Check()
		if check(t, err); found != schema.Version {
			t.Errorf("the store has version %d", found)
		}
		for range 20 {
			act(t, r, s, d)
			compare(t, r, s, d)
		}
		check(t, s.Close())
	}
	if all < 20 {
		t.Errorf("%d old versions in all are few to try", all)
	}
}

// TestUpgradeOfMany has more old versions than one transaction adds.
func TestUpgradeOfMany(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	const n = 2010 // one transaction adds 1,000
	items := make([]Item, n)
	for i := range items {
		items[i] = makeItem(random(1), 0, i)
		items[i].ID, items[i].Text, items[i].Payload = "one", nil, nil
	}
	mustAppend(t, s, items...)
	check(t, s.clear(ctx, []byte{rows.KeyOld}, []byte{rows.KeyOld + 1}))
	for range 2 { // the second time nothing is missing
		check(t, s.schema(s.db).Upgrade(2))
		if marked := checkOld(t, s); marked != n-1 {
			t.Errorf("%d old versions, want %d", marked, n-1)
		}
	}
}

// TestTakenBackFromElsewhere has a retraction that is no part of the log name none
// of the versions that are held: none is found, by any way, and all stay in the log.
func TestTakenBackFromElsewhere(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	r := random(2)
	it, back := makeItem(r, 0, 0), makeItem(r, 0, 9)
	mustAppend(t, s, it)
	back.ID, back.Text, back.Retraction = it.ID, nil, true
	back.Takes = []feedring.Taken{{Position: feedring.Position{Epoch: 1, Sequence: 7}}}
	check(t, s.Retract(ctx, back))
	if checkOld(t, s) != 1 {
		t.Error("what was taken back is not told")
	}
	if items, _, err := among(s, Search{}); err != nil || len(items) > 0 {
		t.Errorf("found %v, %v", items, err)
	}
	if items, err := s.Scan(ctx, it.Ref, feedring.Position{}, 0, 0); err != nil || len(items) != 1 {
		t.Errorf("logged %v, %v", items, err)
	}
}

// among searches with all that is or was in the log as candidates.
func among(s *Store, q Search) (items []Item, next Cursor, err error) {
	err = s.Read(func(r *Reader) error {
		first, _, err := q.Bounds()
		if err != nil {
			return err
		}
		keys := slices.DeleteFunc(everyPlace(r.txn), func(k RowKey) bool { return k.Compare(first) < 0 })
		items, next, err = r.Among(ctx, q, func(yield func(RowKey, error) bool) {
			for _, k := range keys {
				if !yield(k, nil) {
					return
				}
			}
		})
		return err
	})
	return items, next, err
}

// everyPlace returns the keys that the rows of all logged entries have or had.
func everyPlace(txn values.Txn) (keys []RowKey) {
	_ = txn.Each([]byte{rows.KeyLog}, nil, func(row values.Row) (bool, error) {
		p, _ := rows.LogPosition(row.Key())
		return true, row.Value(func(value []byte) error {
			r, err := rows.DecodeLog(value)
			keys = append(keys, rows.KeyOf(r.Published, rows.RefID(binary.BigEndian.Uint32(row.Key()[1:])), p))
			return err
		})
	})
	slices.SortFunc(keys, RowKey.Compare)
	return keys
}
