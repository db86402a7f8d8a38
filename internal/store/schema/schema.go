// Package schema knows which version the rows of a store have, and brings those of an
// older version up to date.
package schema

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/disk"
	"github.com/feedring/feedring/internal/store/heads"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/values"
)

// Version is the version of the rows that the store writes.
// Version 2 has the journal: a program of version 1 would store entries that
// no journal row tells of. Version 3 has a row for each old version in a log: one
// of version 2 would leave some without. Version 4 has values outside of badger:
// one of version 3 would take their places for them.
const Version = 4

// markRoom is what the row of an old version may take on disk until it is compacted.
const markRoom = 64

// markAtOnce is how many rows of old versions one transaction of an upgrade adds.
const markAtOnce = 1000

// Database is the open database of a store.
type Database struct {
	*badger.DB
	Values *values.Table
	Heads  *heads.Table
	Dir    *disk.Dir
}

// Check returns the version of the rows, writes it into a store that is new, and
// refuses a newer one.
func (d Database) Check() (found uint32, err error) {
	missing := false
	err = d.Values.View(d.DB, func(txn values.Txn) error {
		item, err := txn.Get([]byte{rows.KeySchema})
		if missing = errors.Is(err, badger.ErrKeyNotFound); missing {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the store: %w", err)
		}
		row, err := item.ValueCopy(nil)
		switch {
		case err != nil:
			return err
		case len(row) != 4:
			return fmt.Errorf("%s: schema version: %w", d.Dir.Path, disk.ErrCorrupt)
		}
		if found = binary.BigEndian.Uint32(row); found > Version {
			return fmt.Errorf("%s: %w: its data has version %d and this program reads up to %d: update the program",
				d.Dir.Path, disk.ErrNewer, found, Version)
		}
		return nil
	})
	if missing && err == nil {
		return Version, d.Update(set)
	}
	return found, err
}

func set(txn *badger.Txn) error {
	return txn.Set([]byte{rows.KeySchema}, binary.BigEndian.AppendUint32(nil, Version))
}

// Upgrade makes the rows of an older version those of this one: what it adds
// first, the version last, so that an upgrade that a kill ends is made again. What
// version 3 kept in tables is moved when the store is at rest.
func (d Database) Upgrade(found uint32) error {
	if found < 3 {
		_, entries := d.Heads.Totals()
		if err := d.Dir.CheckFree(disk.Spare/2 + int64(entries)*markRoom); err != nil {
			return err
		}
		if err := d.markOld(); err != nil {
			return fmt.Errorf("bringing %s up to date: %w", d.Dir.Path, err)
		}
	}
	return d.Update(func(txn *badger.Txn) error { return errors.Join(values.Upgrade(txn), set(txn)) })
}

// markOld adds the rows of old versions to a store of a version that had none. It may
// be interrupted and called again.
func (d Database) markOld() error {
	m := &marker{db: d.DB}
	err := d.Values.View(d.DB, func(txn values.Txn) error {
		for state := range d.Heads.All() {
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

// marker gathers the keys of rows of old versions.
type marker struct {
	db   *badger.DB
	keys [][]byte
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
			return false, fmt.Errorf("log row: %w", disk.ErrCorrupt)
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
			if err := txn.Set(key, rows.Old); err != nil {
				return err
			}
		}
		return nil
	})
	m.keys = m.keys[:0]
	return err
}
