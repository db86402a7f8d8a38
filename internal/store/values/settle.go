package values

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring/internal/store/segment"
)

// settleRows bounds the rows of one transaction of Settle.
const settleRows = 1000

// How long a segment is left alone that could not be overwritten; twice as long each
// time.
const (
	firstWait = time.Second
	lastWait  = time.Hour
)

// failure is what is known of such a segment.
type failure struct {
	wait  time.Duration
	until time.Time
}

// Unsettled reports whether Settle has anything to do.
func (t *Table) Unsettled() bool {
	return t.unsettled || len(t.erasable(1)) > 0
}

// Settle overwrites what is to be erased, and removes segments of which nothing is
// in use. No reader may be under way that began before the last commit. A crash in
// between leaves it to the next Load and Settle. What the disk does not let it
// overwrite it tries later, unless Collect empties the segment before that; an error is
// the database's.
func (t *Table) Settle(db *badger.DB) error {
	for {
		some := t.erasable(settleRows)
		if len(some) == 0 {
			break
		}
		if err := t.erase(db, some); err != nil {
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

// erasable returns some of the places to be erased, of segments that are not left alone.
func (t *Table) erasable(most int) (some []segment.Place) {
	now := time.Now()
	for _, p := range t.erasing {
		if len(some) == most {
			break
		}
		if f, failed := t.failing[p.Segment]; !failed || !now.Before(f.until) {
			some = append(some, p)
		}
	}
	return some
}

// RetryIn returns when Settle may go on with what it could not overwrite, and whether
// there is anything.
func (t *Table) RetryIn() (wait time.Duration, waits bool) {
	for _, f := range t.failing {
		if left := max(0, time.Until(f.until)); !waits || left < wait {
			wait, waits = left, true
		}
	}
	return wait, waits
}

func (t *Table) erase(db *badger.DB, places []segment.Place) error {
	some := make(map[uint32][]segment.Place)
	for _, p := range places {
		some[p.Segment] = append(some[p.Segment], p)
	}
	erased := make(map[segment.Place]bool)
	for id, places := range some {
		if err := t.files.Erase(id, places); err != nil {
			t.fails(id, err)
			continue
		}
		delete(t.failing, id)
		for _, p := range places {
			erased[p] = true
		}
	}
	if len(erased) == 0 {
		return nil
	}
	err := db.Update(func(txn *badger.Txn) error {
		for p := range erased {
			if err := txn.Delete(eraseKey(p)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		t.erasing = slices.DeleteFunc(t.erasing, func(p segment.Place) bool { return erased[p] })
	}
	return err
}

// fails notes that a segment could not be overwritten. Nothing is added to it any more,
// and Collect takes out what is in use, so that it can be removed.
func (t *Table) fails(id uint32, err error) {
	wait := max(firstWait, min(2*t.failing[id].wait, lastWait))
	t.failing[id] = failure{wait, time.Now().Add(wait)}
	t.log.Warn("store: overwriting what is deleted", "segment", id, "err", err)
	if t.current == id {
		t.current = 0
	}
}

// remove removes a segment: its row first, for a file without one is removed by
// Load.
func (t *Table) remove(db *badger.DB, id uint32) error {
	err := db.Update(func(txn *badger.Txn) error { return txn.Delete(segmentKey(id)) })
	if err != nil {
		return err
	}
	delete(t.segments, id)
	delete(t.failing, id)
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

// Collects reports whether there are segments that are less than half in use, or cannot
// be overwritten.
func (t *Table) Collects() bool { return len(t.collect.victims) > 0 || len(t.halfEmpty()) > 0 }

func (t *Table) halfEmpty() map[uint32]bool {
	found, now := make(map[uint32]bool), time.Now()
	for id, in := range t.segments {
		_, fails := t.failing[id]
		if id != t.current && in.live > 0 && (fails || in.live < in.end/2) && !now.Before(t.collect.later[id]) {
			found[id] = true
		}
	}
	return found
}

// Collect moves some of the values in such segments, so that these can be removed.
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
