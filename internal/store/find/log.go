// Package find looks for entries in one state of the store: by their places in the
// log, and by what searches ask for.
package find

import (
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/heads"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/values"
)

// ErrNotFound is that something is not in the store, ErrCursor that a page cursor
// is not one of its own.
var (
	ErrNotFound = errors.New("not in the store")
	ErrCursor   = errors.New("page cursor is not one of this store's")
)

// Log is one state of the store.
type Log struct {
	Txn   values.Txn
	Heads *heads.Table
	Bytes int // of the payloads of one page, at most
}

// Lost reports whether err tells of such an entry.
func Lost(err error) bool {
	var damage *values.Damage
	return errors.As(err, &damage)
}

// Passing reports whether err tells of an entry that the disk fails to give for the
// moment, and may give another time.
func Passing(err error) bool {
	var damage *values.Damage
	return errors.As(err, &damage) && damage.Passing()
}

// IgnoreLost returns err, nil where it tells that something is not there.
func IgnoreLost(err error) error {
	if Lost(err) || errors.Is(err, ErrNotFound) || errors.Is(err, badger.ErrKeyNotFound) {
		return nil
	}
	return err
}

// ReadItem returns the item at a position of ref, or ErrNotFound.
func ReadItem(txn values.Txn, ref feedring.FeedRef, id rows.RefID, p feedring.Position) (it rows.Item, err error) {
	err = OnLog(txn, id, p, func(r *rows.Log) error {
		it = r.Item(ref, p) // a copy of what it keeps
		return nil
	})
	switch {
	case Lost(err):
		err = ErrNotFound
	case err != nil:
		err = fmt.Errorf("entry %d of %s: %w", p.Sequence, ref.URL, err)
	}
	return it, err
}

// OnLog lets use see what the log has at p, or returns ErrNotFound.
func OnLog(txn values.Txn, id rows.RefID, p feedring.Position, use func(*rows.Log) error) error {
	item, err := txn.Get(rows.LogKey(id, p))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("reading the store: %w", err)
	}
	return UseLog(item, use)
}

// UseLog lets use see a log row.
func UseLog(item values.Row, use func(*rows.Log) error) error {
	return item.Value(func(value []byte) error {
		r, err := rows.DecodeLog(value)
		if err != nil {
			return err
		}
		return use(&r)
	})
}

// WithText lets use see an index row with its text, wherever that is; not at all
// where it is lost.
func WithText(txn values.Txn, k rows.Key, row *rows.Index, use func()) error {
	if !row.InLog {
		use()
		return nil
	}
	_, id, at := k.Split()
	return IgnoreLost(OnLog(txn, id, at, func(logged *rows.Log) error {
		row.Text = logged.Text
		use()
		return nil
	}))
}

// IsOld reports whether searches do not find what the log has at p.
func IsOld(txn values.Txn, id rows.RefID, p feedring.Position) (bool, error) {
	_, err := txn.Get(rows.OldKey(id, p))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	return err == nil, err
}
