package store

import (
	"context"

	"github.com/feedring/feedring/internal/store/rows"
)

// Append stores items and returns when they are on disk. Appending an item
// again does nothing; another hash at a position that is taken is ErrConflict,
// and then none of the call's items is stored. Positions may come in any
// order. A call of more than about 700 kB is stored in several parts, one
// after the other, so that a crash or an error leaves a prefix of it.
//
// It also fails with ErrTooLarge, ErrInvalid, ErrFull or ErrClosed. When ctx
// ends first, items may be stored all the same. Calls made at the same time
// share a sync; it blocks for as long as the disk takes.
func (s *Store) Append(ctx context.Context, items []Item) error {
	for i := range items {
		if err := rows.Validate(&items[i]); err != nil {
			return err
		}
	}
	for len(items) > 0 {
		n, c := s.part(items)
		part := items[:n]
		r := &request{cost: c, apply: func(b *batch) error { return b.addAll(part) }}
		if err := s.submit(ctx, r); err != nil {
			return err
		}
		items = items[n:]
	}
	return nil
}

// part returns how many of items fit into one transaction, at least one, and
// what they cost.
func (s *Store) part(items []Item) (n int, total cost) {
	limit := s.limit()
	for n < len(items) {
		with := total.plus(costOf(&items[n]))
		if n > 0 && !with.within(limit) {
			break
		}
		n, total = n+1, with
	}
	return n, total
}
