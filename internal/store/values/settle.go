package values

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring/internal/store/segment"
)

// settleRows bounds the rows of one transaction of Settle.
const settleRows = 1000

// Unsettled reports whether Settle has anything to do.
func (t *Table) Unsettled() bool { return t.unsettled || len(t.erasing) > 0 }

// Settle overwrites what is to be erased, and removes segments of which nothing is
// in use. No reader may be under way that began before the last commit. A crash in
// between leaves it to the next Load and Settle.
func (t *Table) Settle(db *badger.DB) error {
	for len(t.erasing) > 0 {
		if err := t.eraseSome(db, min(len(t.erasing), settleRows)); err != nil {
			return err
		}
	}
	for _, id := range sorted(t.segments) {
		if id != t.current && t.segments[id].live == 0 {
			if err := t.remove(db, id); err != nil {
				return err
			}
		}
	}
	t.unsettled = false
	return nil
}

func (t *Table) eraseSome(db *badger.DB, n int) error {
	some := make(map[uint32][]segment.Place)
	for _, p := range t.erasing[:n] {
		some[p.Segment] = append(some[p.Segment], p)
	}
	for id, places := range some {
		if err := t.files.Erase(id, places); err != nil {
			return fmt.Errorf("erasing: %w", err)
		}
	}
	err := db.Update(func(txn *badger.Txn) error {
		for _, p := range t.erasing[:n] {
			if err := txn.Delete(eraseKey(p)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		t.erasing = t.erasing[n:]
	}
	return err
}

// remove removes a segment: its row first, for a file without one is removed by
// Load.
func (t *Table) remove(db *badger.DB, id uint32) error {
	err := db.Update(func(txn *badger.Txn) error { return txn.Delete(segmentKey(id)) })
	if err != nil {
		return err
	}
	delete(t.segments, id)
	return t.files.Remove(id)
}

// What one step of Collect or Upgrade looks at and moves, so that what others
// write meanwhile does not wait.
const (
	stepRows  = 5000
	stepBytes = 256 << 10
)

// collecting is one walk over all rows, which moves the values out of some
// segments.
type collecting struct {
	victims map[uint32]bool // empty: no walk is under way
	unread  map[uint32]bool // victims with a value that could not be read
	at      []byte          // the next key; nil: from the first

	later map[uint32]time.Time // until when a segment is left alone, since the disk does not give a value of it
}

// Collects reports whether there are segments that are less than half in use.
func (t *Table) Collects() bool { return len(t.collect.victims) > 0 || len(t.halfEmpty()) > 0 }

func (t *Table) halfEmpty() map[uint32]bool {
	found, now := make(map[uint32]bool), time.Now()
	for id, in := range t.segments {
		if id != t.current && in.live > 0 && in.live < in.end/2 && !now.Before(t.collect.later[id]) {
			found[id] = true
		}
	}
	return found
}

// Collect moves some of the values in segments that are less than half in use, so
// that these can be removed.
func (b *Batch) Collect() error {
	walk := b.table.collect
	if len(walk.victims) == 0 {
		walk = collecting{victims: b.table.halfEmpty(), unread: make(map[uint32]bool), later: make(map[uint32]time.Time)}
		maps.Copy(walk.later, b.table.collect.later)
	}
	moved := 0
	next, err := b.walk(walk.at, func(row Row) (int, error) {
		p, away, err := row.Place()
		if err != nil || !away || !walk.victims[p.Segment] {
			return 0, err
		}
		moved++
		return int(p.Length), nil
	}, func(row Row) error {
		err := b.move(row)
		var damage *Damage
		if !errors.As(err, &damage) {
			return err
		}
		walk.unread[damage.Place.Segment] = true // whoever is told of it takes the row out
		if damage.Passing() {
			walk.later[damage.Place.Segment] = time.Now().Add(b.table.Patience)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if walk.at = next; next == nil {
		for id := range walk.victims {
			if walk.unread[id] {
				continue // a disk that failed for a moment may give the value another time
			}
			delete(walk.later, id)
			in := b.info(id)
			in.live = 0
			b.changed[id] = in
		}
		walk.victims = nil
	}
	b.collected = &walk
	return nil
}

// move writes a value again, at the end of what is written. The error may be of type
// Damage.
func (b *Batch) move(row Row) error {
	value, err := row.ValueCopy(nil)
	if err != nil {
		return err
	}
	key := row.KeyCopy(nil)
	p, away, err := row.Place()
	if err != nil {
		return err
	}
	if err := b.release(key, false); err != nil {
		return err
	}
	if in := b.info(p.Segment); away && in.end > 0 { // it keeps a copy: nothing is added to it any more
		in.day = 0
		b.changed[p.Segment] = in
	}
	return b.Add(key, value)
}

// walk looks at rows from a key on, and has move do something with those of which
// wants tells a size. It returns where to go on; nil: all rows were looked at.
func (b *Batch) walk(from []byte, wants func(Row) (size int, err error), move func(Row) error) (next []byte, err error) {
	var chosen [][]byte
	looked, size := 0, 0
	for _, prefix := range keptPrefixes {
		if len(from) > 0 && from[0] > prefix {
			continue
		}
		err := b.Each([]byte{prefix}, from, func(row Row) (bool, error) {
			if looked == stepRows || size >= stepBytes {
				next = row.KeyCopy(nil)
				return false, nil
			}
			looked++
			n, err := wants(row)
			if size += n; n > 0 {
				chosen = append(chosen, row.KeyCopy(nil))
			}
			return true, err
		})
		if err != nil {
			return nil, err
		}
		if from = nil; next != nil {
			break
		}
	}
	for _, key := range chosen {
		row, err := b.Get(key)
		if err == nil {
			err = move(row)
		}
		if err != nil {
			return nil, err
		}
	}
	return next, nil
}
