package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/values"
)

// The journal tells an index outside of this package which index rows are new:
// each transaction that stores entries has a journal row with their keys, and
// these rows are numbered without a gap. Of what goes away only Erasures tell.

// Journaled returns the number of the last journal row that is on disk. It
// does not touch the disk.
func (s *Store) Journaled() uint64 { return s.journal.Load() }

// News is ready after journal rows were written, and after something was taken back or
// forgotten. It is for one listener.
func (s *Store) News() <-chan struct{} { return s.news }

// noted makes a journal row known.
func (s *Store) noted(number uint64) {
	s.journal.Store(number)
	s.tell()
}

func (s *Store) tell() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// TrimJournal removes the journal rows before a number, but never the last one:
// it says where the numbers go on.
func (s *Store) TrimJournal(ctx context.Context, before uint64) error {
	return s.clear(ctx, rows.JournalKey(0), rows.JournalKey(min(before, s.Journaled())))
}

// Journal returns the keys that journal row number holds, or ErrNotFound.
func (r *Reader) Journal(number uint64) ([]RowKey, error) {
	row, err := get(r.txn, rows.JournalKey(number))
	if err != nil {
		return nil, err
	}
	if len(row)%rows.KeyLen != 0 {
		return nil, fmt.Errorf("journal row: %w", ErrCorrupt)
	}
	keys := make([]RowKey, 0, len(row)/rows.KeyLen)
	for ; len(row) > 0; row = row[rows.KeyLen:] {
		keys = append(keys, rows.ReadKey(row))
	}
	return keys, nil
}

// loadJournal finds where the journal ends.
func (s *Store) loadJournal(db *badger.DB) error {
	return s.values.View(db, func(txn values.Txn) error {
		opts := badger.DefaultIteratorOptions
		opts.PrefetchValues, opts.Reverse = false, true
		it := txn.NewIterator(opts)
		defer it.Close()
		it.Seek(rows.JournalKey(math.MaxUint64))
		if !it.ValidForPrefix([]byte{rows.KeyJournal}) {
			return nil
		}
		key := it.Item().Key()
		if len(key) != len(rows.JournalKey(0)) {
			return fmt.Errorf("journal row: %w", ErrCorrupt)
		}
		s.journal.Store(binary.BigEndian.Uint64(key[1:]))
		return nil
	})
}
