package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/find"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/values"
)

// Get returns the item at a position of ref, or ErrNotFound.
func (s *Store) Get(ref feedring.FeedRef, p feedring.Position) (Item, error) {
	state, ok := s.heads.Get(ref)
	if !ok {
		return Item{}, ErrNotFound
	}
	var it Item
	err := s.view(func(txn values.Txn) (err error) {
		it, err = find.ReadItem(txn, ref, state.ID, p)
		return err
	})
	return it, err
}

// Scan returns the items of ref whose position is greater than after, in
// order, superseded versions included. It returns at most maxItems of them and
// stops before their payloads exceed maxBytes, though never before the first;
// 0 means the bounds of Options, which also hold for greater numbers. Nothing
// after the last position is no error.
func (s *Store) Scan(ctx context.Context, ref feedring.FeedRef, after feedring.Position, maxItems, maxBytes int) ([]Item, error) {
	state, ok := s.heads.Get(ref)
	if !ok || after.Compare(state.Last) >= 0 {
		return nil, ctx.Err()
	}
	maxItems, maxBytes = bound(maxItems, s.opts.ScanItems), bound(maxBytes, s.opts.ScanBytes)
	var items []Item
	size := 0
	err := s.view(func(txn values.Txn) error {
		return s.eachLog(ctx, txn, state.ID, rows.NextPosition(after), func(p feedring.Position, r *rows.Log, _ *values.Damage) bool {
			if r == nil {
				return false // nothing is told across what is missing
			}
			size += len(r.Payload)
			if len(items) > 0 && size > maxBytes {
				return false
			}
			items = append(items, r.Item(ref, p))
			return len(items) < maxItems
		})
	})
	return items, err
}

// eachLog visits the log rows of id from a position on, until visit returns
// false or ctx ends. Of an entry that cannot be read there is what is wrong with it
// instead of a row.
func (s *Store) eachLog(ctx context.Context, txn values.Txn, id rows.RefID, from feedring.Position, visit func(feedring.Position, *rows.Log, *values.Damage) bool) error {
	return txn.Each(rows.LogPrefix(id), rows.LogKey(id, from), func(item values.Row) (more bool, err error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		p, ok := rows.LogPosition(item.Key())
		if !ok {
			return false, fmt.Errorf("log row: %w", ErrCorrupt)
		}
		err = find.UseLog(item, func(r *rows.Log) error {
			more = visit(p, r, nil)
			return nil
		})
		var damage *values.Damage
		if errors.As(err, &damage) {
			return visit(p, nil, damage), nil
		}
		return more, err
	})
}

// bound returns n, or limit where n is 0, negative or greater.
func bound(n, limit int) int {
	if n <= 0 || n > limit {
		return limit
	}
	return n
}

// Latest returns the version of an entry of ref that stands last, and whether
// any is stored. It fails where the disk does not give that for the moment.
func (s *Store) Latest(ref feedring.FeedRef, entry feedring.EntryID) (it Item, found bool, err error) {
	state, ok := s.heads.Get(ref)
	if !ok {
		return Item{}, false, nil
	}
	err = s.view(func(txn values.Txn) error {
		row, err := get(txn, rows.VersionKey(state.ID, entry))
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		_, at, err := rows.DecodeVersion(row)
		if err == nil {
			err = find.OnLog(txn, state.ID, at, func(r *rows.Log) error {
				it = r.Item(ref, at)
				return nil
			})
		}
		if found = err == nil; find.Passing(err) {
			return fmt.Errorf("entry %d of %s: %w", at.Sequence, ref.URL, err)
		}
		return find.IgnoreLost(err)
	})
	return it, found, err
}
