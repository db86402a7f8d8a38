package store

import (
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring"
)

// Searches find the newest version of an entry. What else is in the log, for
// those who poll, is told by a row of its own: so who knows a place in the log
// need not ask the index whether searches find what is there. A row that is not
// there is a question to the tables' filters, a fraction of one that is.
//
// Stones and retractions say themselves what they are, and may have such a row.

// old is the value of such a row. badger takes no value at all for no row.
var old = []byte{1}

// isOld reports whether searches do not find what the log has at p.
func isOld(txn *badger.Txn, id refID, p feedring.Position) (bool, error) {
	_, err := txn.Get(oldKey(id, p))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	return err == nil, err
}

// markRoom is what the row of an old version may take on disk until it is compacted.
const markRoom = 64

// markOld adds these rows to a store of a version that had none. It may be
// interrupted and called again.
func markOld(db *badger.DB, heads *heads) error {
	w := db.NewWriteBatch()
	defer w.Cancel()
	err := db.View(func(txn *badger.Txn) error {
		for row := range heads.byRef.All() {
			state := row.state()
			if err := markOldOf(txn, w, &state); err != nil {
				return fmt.Errorf("old versions of %s: %w", state.Ref.URL, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.Flush()
}

// markOldOf looks at the log only where it has more than newest versions.
func markOldOf(txn *badger.Txn, w *badger.WriteBatch, state *refState) error {
	newest := make(map[feedring.Position]bool, state.Count)
	err := each(txn, versionPrefix(state.id), nil, func(row *badger.Item) (bool, error) {
		return true, row.Value(func(value []byte) error {
			_, at, err := decodeVersion(value)
			newest[at] = true
			return err
		})
	})
	if err != nil || len(newest) == state.Count {
		return err
	}
	return each(txn, logPrefix(state.id), nil, func(row *badger.Item) (bool, error) {
		p, ok := logPosition(row.Key())
		if !ok {
			return false, fmt.Errorf("log row: %w", ErrCorrupt)
		}
		if newest[p] {
			return true, nil
		}
		return true, w.Set(oldKey(state.id, p), old)
	})
}
