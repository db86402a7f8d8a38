package store

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store/find"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/values"
)

// Reader reads one state of the store, whatever is written meanwhile. It is for
// an index outside of this package, and for one goroutine.
type Reader struct {
	s   *Store
	txn values.Txn
}

// Read runs read on the state that the store is in. Writers may wait until read
// returns, so that it should take milliseconds.
func (s *Store) Read(read func(*Reader) error) error {
	return s.view(func(txn values.Txn) error { return read(&Reader{s, txn}) })
}

// Row is an index row: what a search filters by. Its slices are the database's
// memory, good as long as the call that gave it.
type Row struct {
	Private         bool
	Theme, Provider []byte
	Text            match.Text
}

// readRow lets use see the row at k; not at all where its text is lost.
func readRow(txn values.Txn, item values.Row, k RowKey, use func(*Row)) (found bool, err error) {
	err = item.Value(func(value []byte) error {
		row, err := rows.DecodeIndex(value)
		if err != nil {
			return err
		}
		return find.WithText(txn, k, &row, func() {
			found = true
			use(&Row{row.Private, row.Theme, row.Provider, row.Text})
		})
	})
	return found, err
}

// Row lets use see the row at k; it is not found where its entry went away or
// has a newer version.
func (r *Reader) Row(k RowKey, use func(*Row)) (found bool, err error) {
	item, err := r.txn.Get(k.Index())
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	if err == nil {
		found, err = readRow(r.txn, item, k, use)
	}
	if err != nil {
		return false, fmt.Errorf("reading the store: %w", err)
	}
	return found, nil
}

// Has reports whether there is a row at k.
func (r *Reader) Has(k RowKey) (bool, error) {
	_, err := r.txn.Get(k.Index())
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Rows visits the rows from a key on, in order, until visit returns false.
func (r *Reader) Rows(from RowKey, visit func(RowKey, *Row) (more bool)) error {
	return r.txn.Each([]byte{rows.KeyIndex}, from.Index(), func(item values.Row) (more bool, err error) {
		k, ok := rows.ReadIndexKey(item.Key())
		if !ok {
			return false, fmt.Errorf("index row: %w", ErrCorrupt)
		}
		found, err := readRow(r.txn, item, k, func(row *Row) { more = visit(k, row) })
		return more || !found, err
	})
}

// Record lets use see a small record, or returns ErrNotFound. The value is the
// database's memory.
func (r *Reader) Record(b Bucket, key string, use func(value []byte) error) error {
	item, err := r.txn.Get(rows.RecordKey(byte(b), key))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("reading the store: %w", err)
	}
	return item.Value(use)
}

// Ref returns the number that stands for ref in a RowKey.
func (r *Reader) Ref(ref feedring.FeedRef) (number uint32, ok bool) {
	state, ok := r.s.heads.Get(ref)
	return uint32(state.ID), ok
}

// Among is Search for who knows where to look: keys, in order, must have all
// rows that match, and may have others and some that are not there.
func (r *Reader) Among(ctx context.Context, q Search, keys iter.Seq2[RowKey, error]) ([]Item, Cursor, error) {
	return r.s.log(r.txn).Among(ctx, q, keys)
}

// Matching gives the keys of the rows from one on that match, found by looking
// at each.
func (r *Reader) Matching(ctx context.Context, q Search, from RowKey) iter.Seq2[RowKey, error] {
	return r.s.log(r.txn).Matching(ctx, q, from)
}
