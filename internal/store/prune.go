package store

import (
	"context"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/rows"
)

// pruneRows is how many items one transaction of Prune and Forget removes:
// few enough that what others write meanwhile does not wait.
const pruneRows = 500

// pruneCost bounds it: four rows of at most 150 bytes an item, and the
// retractions that are kept elsewhere. Who has a row of an old version has no
// version row and no index row.
var pruneCost = cost{bytes: pruneRows*4*150 + 2*maxMoved, rows: pruneRows * 5}

// Prune removes the items with Seen before a time, of all refs but those that
// keep reports true for, and returns how many it removed. It removes only from
// the old end of each log, so that what stays of a ref is contiguous. Retractions
// stay for Retractions, a month more. It works
// in small transactions: when ctx ends, what was removed stays removed.
func (s *Store) Prune(ctx context.Context, before time.Time, keep func(feedring.FeedRef) bool) (n int, err error) {
	for _, ref := range s.Refs() {
		if keep(ref) {
			continue
		}
		removed, err := s.drop(ctx, ref, func(r *rows.Log) bool { return r.Seen.Before(before) }, false)
		n += removed
		if err == nil {
			err = s.dropTombs(ctx, ref, before.Add(-keepRetractions))
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Forget removes everything of ref, its head included, in small transactions.
// When it is interrupted it leaves the new end of the log, and can be called
// again.
func (s *Store) Forget(ctx context.Context, ref feedring.FeedRef) error {
	if err := s.dropTombs(ctx, ref, time.Unix(1<<40, 0)); err != nil {
		return err
	}
	_, err := s.drop(ctx, ref, func(*rows.Log) bool { return true }, true)
	return err
}

// drop removes items of ref from the old end on, while old reports true.
func (s *Store) drop(ctx context.Context, ref feedring.FeedRef, old func(*rows.Log) bool, forget bool) (n int, err error) {
	for {
		removed, more := 0, false
		err := s.submit(ctx, &request{cost: pruneCost, frees: true, apply: func(b *batch) (err error) {
			removed, more, err = s.dropSome(ctx, b, ref, old, forget)
			return err
		}})
		n += removed
		if err != nil || !more {
			return n, err
		}
	}
}

// dropSome removes up to pruneRows items and tells whether there may be more.
func (s *Store) dropSome(ctx context.Context, b *batch, ref feedring.FeedRef, old func(*rows.Log) bool, forget bool) (n int, more bool, err error) {
	state, ok := b.state(ref)
	if !ok {
		return 0, false, nil
	}
	var drop []dropped
	var gone []feedring.Position // that cannot be read
	moved := 0
	state.First = feedring.Position{}
	err = s.eachLog(ctx, b.Txn, state.ID, feedring.Position{}, func(p feedring.Position, r *rows.Log) bool {
		if r == nil {
			gone = append(gone, p)
			return true
		}
		if !old(r) || len(drop) == pruneRows || moved > maxMoved {
			state.First, more = p, old(r)
			return false
		}
		if r.Retraction && !forget {
			it := r.Item(ref, p)
			b.set(rows.TombstoneKey(state.ID, p), rows.EncodeLog(&it))
			moved += len(it.Payload)
		}
		drop = append(drop, dropped{p, rows.Log{Published: r.Published, ID: append([]byte{}, r.ID...)}})
		return true
	})
	if err != nil {
		return 0, false, err
	}
	for _, p := range gone {
		if err := b.lose(&state, p); err != nil {
			return 0, false, err
		}
	}
	for i := range drop {
		b.remove(state.ID, drop[i].at, &drop[i].row, forget)
	}
	state.Count -= len(drop)
	b.fill(state.ID, func(p feedring.Position) bool { return state.First.IsZero() || p.Compare(state.First) < 0 })
	switch {
	case forget && !more:
		b.forget(state)
	case len(drop)+len(gone) > 0:
		b.change(state)
	}
	return len(drop), more, b.err
}

// dropped is what remove must know of an item.
type dropped struct {
	at  feedring.Position
	row rows.Log
}
