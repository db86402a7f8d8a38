package store

import (
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// each calls visit with the rows under prefix, in order of their keys, from
// the first that is not below seek (nil: from the first). It ends when visit
// returns false or an error.
func each(txn *badger.Txn, prefix, seek []byte, visit func(item *badger.Item) (bool, error)) error {
	opts := badger.DefaultIteratorOptions
	// Prefetching starts goroutines and keeps a hundred values: rows are read
	// where they lie instead.
	opts.PrefetchValues = false
	opts.Prefix = prefix
	it := txn.NewIterator(opts)
	defer it.Close()
	if seek == nil {
		seek = prefix
	}
	for it.Seek(seek); it.ValidForPrefix(prefix); it.Next() {
		more, err := visit(it.Item())
		if err != nil {
			return fmt.Errorf("reading the store: %w", err)
		}
		if !more {
			return nil
		}
	}
	return nil
}
