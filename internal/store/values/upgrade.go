package values

import (
	"errors"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring/internal/store/rows"
)

// A database of before has all values in its tables. They are moved in steps, each
// of which is a transaction with the row that says how far it is. Then the tables
// still hold what was moved, until they are compacted.

// The first byte of that row.
const (
	moving  = 'm' // and the key to go on with
	flatten = 'f' // the tables are to be compacted
)

// Upgrade marks a database of before, which may already be marked.
func Upgrade(txn *badger.Txn) error { return txn.Set([]byte{rows.KeyUpgrade}, []byte{moving}) }

// Stage is how far an upgrade is.
type Stage struct {
	Moving, Flatten bool
	at              []byte
}

// Stage reads how far the upgrade of the database is.
func (t Txn) Stage() (s Stage, err error) {
	row, err := t.Get([]byte{rows.KeyUpgrade})
	if errors.Is(err, badger.ErrKeyNotFound) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	err = row.Value(func(v []byte) error {
		s.Flatten = len(v) > 0 && v[0] == flatten
		if s.Moving = !s.Flatten; len(v) > 1 {
			s.at = append(s.at, v[1:]...)
		}
		return nil
	})
	return s, err
}

// FlattenLater has the tables compacted, so that they do not hold any more what was
// deleted of them. An upgrade does that at its end.
func (b *Batch) FlattenLater() error {
	if b.flatten {
		return nil
	}
	stage, err := b.Stage()
	if err != nil || stage.Moving {
		return err
	}
	b.flatten = true
	return b.SetEntry(badger.NewEntry([]byte{rows.KeyUpgrade}, []byte{flatten}))
}

// Flattened notes that the tables do not hold any more what was moved.
func (b *Batch) Flattened() error { return b.Delete([]byte{rows.KeyUpgrade}) }

// Upgrade moves some of the values that are in the tables.
func (b *Batch) Upgrade() error {
	stage, err := b.Stage()
	if err != nil || !stage.Moving {
		return err
	}
	next, err := b.walkAll(stage.at)
	if err != nil {
		return err
	}
	v := []byte{flatten}
	if next != nil {
		v = append([]byte{moving}, next...)
	}
	return b.Set([]byte{rows.KeyUpgrade}, v)
}

// walkAll moves some values, and takes the text out of some index rows whose log
// row holds it.
func (b *Batch) walkAll(at []byte) (next []byte, err error) {
	return b.walk(at, func(row Row) (int, error) {
		size := int(row.ValueSize())
		if row.away() || row.Key()[0] != rows.KeyIndex && !kept(row.Key()) {
			return 0, nil
		}
		return size, nil
	}, func(row Row) error {
		if row.Key()[0] == rows.KeyIndex {
			return b.leaveToLog(row)
		}
		return b.move(row)
	})
}

func (b *Batch) leaveToLog(row Row) error {
	key, ok := rows.ReadIndexKey(row.Key())
	if !ok {
		return nil
	}
	_, id, at := key.Split()
	logged, err := b.Get(rows.LogKey(id, at))
	if err != nil || !logged.away() {
		return ignoreMissing(err)
	}
	return row.Value(func(v []byte) error {
		short, err := rows.LeaveToLog(v)
		if err != nil || len(short) >= len(v) {
			return err
		}
		return b.Add(row.KeyCopy(nil), short)
	})
}

func ignoreMissing(err error) error {
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil
	}
	return err
}
