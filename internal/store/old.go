package store

import (
	"fmt"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/heads"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/values"
)

// Searches find the newest version of an entry. What else is in the log, for
// those who poll, is told by a row of its own: so who knows a place in the log
// need not ask the index whether searches find what is there. A row that is not
// there is a question to the tables' filters, a fraction of one that is.
//
// Stones and retractions say themselves what they are, and may have such a row.

// old is the value of such a row. badger takes no value at all for no row.
var (
	old   = []byte{1}
	taken = []byte{2} // of the version that a retraction in the log took back
)

// markRoom is what the row of an old version may take on disk until it is compacted.
const markRoom = 64

// markAtOnce is how many of them one transaction of an upgrade adds.
const markAtOnce = 1000

// marker gathers the keys of such rows.
type marker struct {
	db   *badger.DB
	keys [][]byte
}

// markOld adds these rows to a store of a version that had none. It may be
// interrupted and called again.
func (s *Store) markOld(db *badger.DB, table *heads.Table) error {
	m := &marker{db: db}
	err := s.values.View(db, func(txn values.Txn) error {
		for state := range table.All() {
			if err := m.markLog(txn, &state); err != nil {
				return fmt.Errorf("old versions of %s: %w", state.Ref.URL, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.write()
}

// markLog looks at the log only where it has more than newest versions.
func (m *marker) markLog(txn values.Txn, state *heads.State) error {
	newest := make(map[feedring.Position]bool, state.Count)
	err := txn.Each(rows.VersionPrefix(state.ID), nil, func(row values.Row) (bool, error) {
		return true, row.Value(func(value []byte) error {
			_, at, err := rows.DecodeVersion(value)
			newest[at] = true
			return err
		})
	})
	if err != nil || len(newest) == state.Count {
		return err
	}
	return txn.Each(rows.LogPrefix(state.ID), nil, func(row values.Row) (bool, error) {
		p, ok := rows.LogPosition(row.Key())
		if !ok {
			return false, fmt.Errorf("log row: %w", ErrCorrupt)
		}
		if newest[p] {
			return true, nil
		}
		if m.keys = append(m.keys, rows.OldKey(state.ID, p)); len(m.keys) < markAtOnce {
			return true, nil
		}
		return true, m.write()
	})
}

// write writes the rows that were gathered.
func (m *marker) write() error {
	err := m.db.Update(func(txn *badger.Txn) error {
		for _, key := range m.keys {
			if err := txn.Set(key, old); err != nil {
				return err
			}
		}
		return nil
	})
	m.keys = m.keys[:0]
	return err
}
