package values

import (
	"errors"
	"fmt"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring/internal/store/disk"
	"github.com/feedring/feedring/internal/store/segment"
)

// elsewhere is the user's byte of a row whose value is a segment.Place. Rows of
// before have 0.
const elsewhere = 1

// Txn is a transaction of the database whose rows read their values wherever they
// lie.
type Txn struct {
	*badger.Txn
	table *Table
	batch *Batch // whose values are not written yet; nil: none
}

// Row is one row of the database, good until its iterator goes on.
type Row struct {
	*badger.Item
	txn Txn
}

// Get returns the row at key, or badger.ErrKeyNotFound.
func (t Txn) Get(key []byte) (Row, error) {
	item, err := t.Txn.Get(key)
	return Row{item, t}, err
}

// Each calls visit with the rows under prefix, in order of their keys, from
// the first that is not below seek (nil: from the first). It ends when visit
// returns false or an error.
func (t Txn) Each(prefix, seek []byte, visit func(Row) (bool, error)) error {
	opts := badger.DefaultIteratorOptions
	// Prefetching starts goroutines and keeps a hundred values: rows are read
	// where they lie instead.
	opts.PrefetchValues = false
	opts.Prefix = prefix
	it := t.NewIterator(opts)
	defer it.Close()
	if seek == nil {
		seek = prefix
	}
	for it.Seek(seek); it.ValidForPrefix(prefix); it.Next() {
		more, err := visit(Row{it.Item(), t})
		if err != nil {
			return fmt.Errorf("reading the store: %w", err)
		}
		if !more {
			return nil
		}
	}
	return nil
}

// Place returns where the value lies, false if it is in the database itself.
func (r Row) Place() (p segment.Place, elsewhere bool, err error) {
	if !r.away() {
		return p, false, nil
	}
	err = r.Item.Value(func(v []byte) error {
		var ok bool
		if p, ok = segment.ReadPlace(v); !ok {
			return fmt.Errorf("place of a value: %w", disk.ErrCorrupt)
		}
		return nil
	})
	return p, true, err
}

func (r Row) away() bool { return r.UserMeta() == elsewhere }

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxKept bounds a buffer that is kept for the next value.
const maxKept = 64 << 10

// Value lets use see the value, which is not use's to keep. It fails with an error
// of type Damage if it was stored and cannot be read.
func (r Row) Value(use func([]byte) error) error {
	p, away, err := r.Place()
	if err != nil {
		return err
	}
	if !away {
		return r.Item.Value(use)
	}
	key := r.Key()
	if pending := r.txn.batch.pending(p); pending != nil {
		return use(pending)
	}
	buf := buffers.Get().(*[]byte)
	value, used, err := r.txn.table.files.Read(p, key, *buf)
	defer func() {
		if cap(used) <= maxKept {
			*buf = used
		}
		buffers.Put(buf)
	}()
	if errors.Is(err, segment.ErrDamaged) {
		err = &Damage{Key: r.KeyCopy(nil), Place: p, err: err}
		r.txn.table.report(err.(*Damage))
	}
	if err != nil {
		return err
	}
	r.txn.table.unreadable.given(key)
	return use(value)
}

// ValueCopy returns a copy of the value, in dst where there is room.
func (r Row) ValueCopy(dst []byte) (value []byte, err error) {
	err = r.Value(func(v []byte) error {
		value = append(dst[:0], v...)
		return nil
	})
	return value, err
}

// Damage is a value that was stored and cannot be read any more.
type Damage struct {
	Key   []byte
	Place segment.Place
	err   error
}

// Error implements error.
func (d *Damage) Error() string { return d.err.Error() }

// Unwrap says that the store is damaged.
func (d *Damage) Unwrap() []error { return []error{d.err, disk.ErrCorrupt} }
