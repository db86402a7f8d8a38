package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/segment"
	"github.com/feedring/feedring/internal/store/values"
)

// checkValues has the bytes in use of each segment counted as they are, and every
// large value in a segment that is there.
func checkValues(t *testing.T, s *Store) {
	t.Helper()
	check(t, s.view(func(txn values.Txn) error {
		used := make(map[uint32]uint32)
		err := txn.Each(nil, nil, func(row values.Row) (bool, error) {
			p, away, err := row.Place()
			if away {
				used[p.Segment] += p.Length
				err = errors.Join(err, row.Value(func([]byte) error { return nil }))
			}
			return true, err
		})
		check(t, err)
		check(t, txn.Each([]byte{rows.KeySegment}, nil, func(row values.Row) (bool, error) {
			id := binary.BigEndian.Uint32(row.Key()[1:])
			return true, row.Value(func(v []byte) error {
				if live := binary.BigEndian.Uint32(v[4:]); live != used[id] {
					t.Errorf("of segment %d %d bytes are in use, counted %d", id, used[id], live)
				}
				delete(used, id)
				return nil
			})
		}))
		if len(used) > 0 {
			t.Errorf("segments without a row: %v", used)
		}
		return nil
	}))
}

// onDisk counts the files of a store that hold a text.
func onDisk(t *testing.T, dir, text string) (n int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	check(t, err)
	for _, name := range files {
		body, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if bytes.Contains(body, []byte(text)) {
			n++
		}
	}
	return n
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); !holds(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("not yet: %s", what)
		}
	}
}

// holdWriter has the store's writer do nothing until resume is called.
func holdWriter(s *Store) (resume func()) {
	held, end := make(chan struct{}), make(chan struct{})
	go s.submit(ctx, &request{frees: true, apply: func(*batch) error {
		close(held)
		<-end
		return nil
	}})
	<-held
	return sync.OnceFunc(func() { close(end) })
}

// downgrade makes of a store one of version 3, which has all values in its tables,
// and closes it.
func downgrade(t *testing.T, s *Store) {
	t.Helper()
	resume := holdWriter(s) // at rest it would open the database anew meanwhile
	defer resume()
	b := s.values.Begin(s.db)
	raw := make(map[string][]byte)
	check(t, b.Each(nil, nil, func(row values.Row) (bool, error) {
		key := row.KeyCopy(nil)
		_, away, err := row.Place()
		check(t, err)
		value, err := row.ValueCopy(nil)
		check(t, err)
		switch {
		case key[0] == rows.KeySegment:
			raw[string(key)] = nil
		case away:
			raw[string(key)] = value
		}
		return true, nil
	}))
	check(t, b.Each([]byte{rows.KeyIndex}, nil, func(row values.Row) (bool, error) {
		k, _ := rows.ReadIndexKey(row.Key())
		_, id, at := k.Split()
		value, err := row.ValueCopy(nil)
		check(t, err)
		r, err := rows.DecodeIndex(value)
		check(t, err)
		if logged := raw[string(rows.LogKey(id, at))]; r.InLog {
			l, err := rows.DecodeLog(logged)
			check(t, err)
			raw[string(row.KeyCopy(nil))] = rows.EncodeIndex(&Item{
				Private: r.Private, Theme: feedring.Theme(r.Theme), Provider: feedring.Provider(r.Provider), Text: l.Text,
			}, false)
		}
		return true, nil
	}))
	b.Discard()
	w := s.db.NewWriteBatch()
	for key, value := range raw {
		if value == nil {
			check(t, w.Delete([]byte(key)))
		} else {
			check(t, w.Set([]byte(key), value))
		}
	}
	check(t, w.Set([]byte{rows.KeySchema}, []byte{0, 0, 0, 3}))
	check(t, w.Flush())
	dir := s.dir
	resume()
	check(t, s.Close())
	files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	check(t, err)
	for _, name := range files {
		check(t, os.Remove(name))
	}
}

// upgraded reports whether nothing is left to move.
func upgraded(t *testing.T, s *Store) (done bool) {
	check(t, s.view(func(txn values.Txn) error {
		stage, err := txn.Stage()
		done = !stage.Moving && !stage.Flatten
		return err
	}))
	return done
}

// TestUpgradeMovesValues has a store of version 3 read and changed while what it
// holds is moved, and closed in between. In the end no table holds a text.
func TestUpgradeMovesValues(t *testing.T) {
	for seed := range uint64(3) {
		r := random(seed)
		dir := t.TempDir()
		s, d := open(t, dir, Options{}), newDumb()
		for range 30 {
			items := randomItems(r)
			if (s.Append(ctx, items) == nil) != (d.Append(ctx, items) == nil) {
				t.Fatal("one of them refused what the other took")
			}
		}
		downgrade(t, s)
		if onDisk(t, dir, "word") == 0 {
			t.Fatal("the tables hold no text")
		}
		s = open(t, dir, Options{})
		s.upkeep.busy = -1
		for n := range 12 {
			if n == 4 {
				check(t, s.Close())
				s = open(t, dir, Options{})
				s.upkeep.busy = -1
			}
			act(t, r, s, d)
			compare(t, r, s, d)
		}
		eventually(t, "all is moved", func() bool { return upgraded(t, s) })
		compare(t, r, s, d)
		check(t, s.view(func(txn values.Txn) error {
			return txn.Each(nil, nil, func(row values.Row) (bool, error) {
				if _, away, _ := row.Place(); !away && (row.Key()[0] == rows.KeyLog || row.ValueSize() > 700) {
					t.Errorf("%x has %d bytes in a table", row.Key(), row.ValueSize())
				}
				return true, nil
			})
		}))
		check(t, s.Close())
		tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
		check(t, err)
		for _, name := range tables {
			if body, err := os.ReadFile(name); err != nil || bytes.Contains(body, []byte(" word")) {
				t.Errorf("%s still holds a text, %v", name, err)
			}
		}
	}
}

// TestErased has what is forgotten or taken back nowhere in the files, also where
// the process ended before it was overwritten.
func TestErased(t *testing.T) {
	for _, ends := range []bool{false, true} {
		dir := t.TempDir()
		s := open(t, dir, Options{})
		left := newMeter(1 << 30)
		s.disk.Meter = left
		r := random(1)
		it, other, back := makeItem(r, 0, 0), makeItem(r, 1, 1), makeItem(r, 0, 2)
		it.Text, it.Payload = []byte(" unheardof "), append([]byte("unheardof"), it.Payload...)
		other.Payload = append([]byte("neverseen"), other.Payload...)
		mustAppend(t, s, it, other, makeItem(r, 2, 3))
		back.ID, back.Text, back.Retraction = it.ID, nil, true
		back.Takes = []feedring.Taken{{Position: it.Position, Hash: it.Hash, Seen: it.Seen}}
		if onDisk(t, dir, "unheardof") == 0 || onDisk(t, dir, "neverseen") == 0 {
			t.Fatal("they were never there")
		}
		if ends { // the writer cannot settle: the disk is too full
			left.bytes.Store(defaultReserve / 4)
			var places []segment.Place
			check(t, s.view(func(txn values.Txn) error {
				return txn.Each([]byte{rows.KeyLog}, nil, func(row values.Row) (bool, error) {
					p, _, err := row.Place()
					places = append(places, p)
					return true, err
				})
			}))
			check(t, s.db.Update(func(txn *badger.Txn) error {
				for _, p := range places[:2] {
					if err := txn.Set(p.Append([]byte{rows.KeyErase}), []byte{1}); err != nil {
						return err
					}
				}
				return nil
			}))
			check(t, s.Close())
			s = open(t, dir, Options{})
		} else {
			mustAppend(t, s, back)
			check(t, s.Forget(ctx, other.Ref))
		}
		eventually(t, "erased", func() bool { return onDisk(t, dir, "unheardof")+onDisk(t, dir, "neverseen") == 0 })
		check(t, s.view(func(txn values.Txn) error {
			_, err := txn.Get([]byte{rows.KeyErase})
			if !errors.Is(err, badger.ErrKeyNotFound) {
				t.Error("it is still to be erased")
			}
			return nil
		}))
	}
}

// TestCollected has the files shrink when most of what they hold is gone.
func TestCollected(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	s.values.Fill, s.upkeep.busy = 20_000, -1
	fill(t, s, 400, 20)
	for _, ref := range s.Refs()[1:] {
		check(t, s.Forget(ctx, ref))
	}
	eventually(t, "collected", func() bool {
		files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
		check(t, err)
		return len(files) <= 4
	})
	checkValues(t, s)
	if items, err := s.Scan(ctx, s.Refs()[0], feedring.Position{}, 0, 0); err != nil || len(items) != 20 {
		t.Errorf("%d entries are left, %v", len(items), err)
	}
}

// spoil changes a byte of the record of an entry on disk.
func spoil(t *testing.T, s *Store, it *Item) {
	t.Helper()
	state, _ := s.heads.Get(it.Ref)
	var p segment.Place
	check(t, s.view(func(txn values.Txn) error {
		row, err := txn.Get(rows.LogKey(state.ID, it.Position))
		check(t, err)
		p, _, err = row.Place()
		return err
	}))
	files, err := filepath.Glob(filepath.Join(s.dir, "*.seg"))
	check(t, err)
	f, err := os.OpenFile(files[0], os.O_RDWR, 0)
	check(t, err)
	defer f.Close()
	b := make([]byte, 1)
	_, err = f.ReadAt(b, int64(p.End()-5))
	check(t, err)
	b[0]++
	_, err = f.WriteAt(b, int64(p.End()-5))
	check(t, err)
}

// TestDamagedEntryIsOneEntrysLoss damages one entry of a feed on disk: nobody is
// given it, everything else is there, and it can be stored again.
func TestDamagedEntryIsOneEntrysLoss(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	r := random(1)
	var items []Item
	for n := range 10 {
		items = append(items, makeItem(r, 0, n))
	}
	mustAppend(t, s, items...)
	spoil(t, s, &items[4])
	if _, err := s.Get(items[4].Ref, items[4].Position); !errors.Is(err, ErrNotFound) {
		t.Errorf("a damaged entry: %v", err)
	}
	eventually(t, "it is taken out", func() bool { return s.Damaged() == 1 })
	head, _ := s.Head(items[0].Ref)
	if head.Count != 9 || head.Last != items[9].Position || head.First != items[0].Position {
		t.Errorf("head %+v", head)
	}
	found, _, err := s.Search(ctx, Search{Words: parse(t, "word1 OR word2 OR word3 OR word4"), Limit: 100})
	check(t, err)
	for _, it := range found {
		if it.Position == items[4].Position {
			t.Error("a search found it")
		}
	}
	checkOld(t, s)
	checkValues(t, s)
	for range 2 { // also after it is opened again
		if at, holed := s.NextHole(items[4].Ref, feedring.Position{}); !holed || at != items[4].Position {
			t.Errorf("the hole is at %v, %t", at, holed)
		}
		if before := s.BeforeHoles(); len(before) != 1 || before[0].Position != items[3].Position || before[0].Hash != items[3].Hash {
			t.Errorf("before it is %v", before)
		}
		check(t, s.Close())
		s = open(t, dir, Options{})
	}
	mustAppend(t, s, items[4])
	if len(s.BeforeHoles()) > 0 {
		t.Error("there is still a hole")
	}
	got, err := s.Scan(ctx, items[0].Ref, feedring.Position{}, 0, 0)
	check(t, err)
	same(t, "stored again", got, items)
	checkOld(t, s)
	checkValues(t, s)
}

// TestPruneEndsHoles prunes past a damaged entry, whether it was found or not.
func TestPruneEndsHoles(t *testing.T) {
	for _, found := range []bool{true, false} {
		s := open(t, t.TempDir(), Options{})
		r := random(1)
		var items []Item
		for n := range 10 {
			items = append(items, makeItem(r, 0, n))
		}
		mustAppend(t, s, items...)
		spoil(t, s, &items[4])
		if found {
			_, _ = s.Get(items[4].Ref, items[4].Position)
			eventually(t, "it is taken out", func() bool { return len(s.BeforeHoles()) == 1 })
		}
		_, err := s.Prune(ctx, items[7].Seen, func(feedring.FeedRef) bool { return false })
		check(t, err)
		eventually(t, "the hole ends", func() bool { return len(s.BeforeHoles()) == 0 })
		if head, _ := s.Head(items[0].Ref); head.Count != 3 || head.First != items[7].Position {
			t.Errorf("head %+v", head)
		}
		checkOld(t, s)
		checkValues(t, s)
	}
}

// TestShortEntryIsErased has the text of an entry of few bytes nowhere on disk once it
// is forgotten, also where an earlier version of this program kept it in a table.
func TestShortEntryIsErased(t *testing.T) {
	for _, before := range []bool{false, true} {
		dir := t.TempDir()
		s := open(t, dir, Options{})
		r := random(1)
		it := makeItem(r, 0, 0)
		it.Text, it.Payload, it.Signature = []byte(" unheardof "), []byte("unheardof"), make([]byte, 64)
		mustAppend(t, s, it, makeItem(r, 1, 1))
		if before {
			state, _ := s.heads.Get(it.Ref)
			key := rows.LogKey(state.ID, it.Position)
			check(t, s.db.Update(func(txn *badger.Txn) error {
				return errors.Join(txn.Set(key, rows.EncodeLog(&it)),
					txn.Set(rows.KeyOf(it.Published, state.ID, it.Position).Index(), rows.EncodeIndex(&it, false)))
			}))
			for n := range 2 { // into a table, and deeper
				check(t, s.Close())
				s = open(t, dir, Options{})
				mustAppend(t, s, makeItem(r, 2, 2+n))
			}
		}
		if onDisk(t, dir, "unheardof") == 0 {
			t.Fatal("it was never there")
		}
		check(t, s.Forget(ctx, it.Ref))
		if before {
			eventually(t, "the tables are compacted", func() bool { return upgraded(t, s) })
			for _, name := range []string{"*.sst", "*.mem"} {
				files, err := filepath.Glob(filepath.Join(dir, name))
				check(t, err)
				for _, file := range files {
					if body, err := os.ReadFile(file); err == nil && bytes.Contains(body, []byte("unheardof")) {
						t.Errorf("%s holds it", file)
					}
				}
			}
			continue // the record that this test took the row from is nobody's
		}
		eventually(t, "erased", func() bool { return onDisk(t, dir, "unheardof") == 0 })
	}
}
