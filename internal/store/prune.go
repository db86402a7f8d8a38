package store

import (
	"context"
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/find"
	"github.com/feedring/feedring/internal/store/heads"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/values"
)

// pruneRows is how many items one transaction of Prune and Forget removes:
// few enough that what others write meanwhile does not wait.
const pruneRows = 500

// pruneCost bounds it: seven rows of at most 150 bytes for a damaged item, which is
// more than for another one, the retractions that are kept elsewhere, and the row that has
// an index erase a feed's words.
var pruneCost = cost{bytes: pruneRows*7*150 + 2*maxMoved, rows: pruneRows*7 + 1}

// Prune removes the items with Seen before a time, of all refs but those that
// keep reports true for, and returns how many it removed. It removes only from
// the old end of each log, so that what stays of a ref is contiguous. Retractions
// stay for Retractions, a month more. It works
// in small transactions: when ctx ends, what was removed stays removed. Of a ref
// with an item that the disk does not give for the moment it removes only what is
// before that; it goes on with the others, and returns the error.
func (s *Store) Prune(ctx context.Context, before time.Time, keep func(feedring.FeedRef) bool) (n int, err error) {
	var unread error
	for _, ref := range s.Refs() {
		if keep(ref) {
			continue
		}
		removed, err := s.drop(ctx, ref, func(seen time.Time) bool { return seen.Before(before) }, false)
		n += removed
		if find.Lost(err) {
			unread, err = err, nil
		}
		if err == nil {
			err = s.dropTombs(ctx, ref, before.Add(-keepRetractions))
		}
		if err != nil {
			return n, err
		}
	}
	return n, unread
}

// Forget removes everything of ref, its head included, in small transactions.
// When it is interrupted it leaves the new end of the log, and can be called
// again.
func (s *Store) Forget(ctx context.Context, ref feedring.FeedRef) error {
	if err := s.dropTombs(ctx, ref, time.Unix(1<<40, 0)); err != nil {
		return err
	}
	_, err := s.drop(ctx, ref, func(time.Time) bool { return true }, true)
	return err
}

// drop removes items of ref from the old end on, while old reports true of when they
// were seen.
func (s *Store) drop(ctx context.Context, ref feedring.FeedRef, old func(time.Time) bool, forget bool) (n int, err error) {
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
func (s *Store) dropSome(ctx context.Context, b *batch, ref feedring.FeedRef, old func(time.Time) bool, forget bool) (n int, more bool, err error) {
	state, ok := b.state(ref)
	if !ok {
		return 0, false, nil
	}
	drop, err := s.chooseDropped(ctx, b.Txn, &state, old, forget)
	if err != nil {
		return 0, false, err
	}
	if len(drop.lost) > 0 {
		if err := b.lose(&state, forget, drop.lost...); err != nil {
			return 0, false, err
		}
	}
	for i := range drop.kept {
		b.set(rows.TombstoneKey(state.ID, drop.kept[i].Position), rows.EncodeLog(&drop.kept[i]))
	}
	if forget {
		b.eraseWords(rows.FeedErasureKey(state.ID))
	}
	for i := range drop.items {
		b.remove(state.ID, drop.items[i].at, &drop.items[i].row, forget)
	}
	state.Count -= len(drop.items)
	// Nobody knows when a hole's entry was seen, but that it was before it was found
	// damaged, and before the entries after it.
	b.fill(state.ID, func(p feedring.Position) bool {
		return p.Compare(drop.last()) < 0 || old(b.lostAt(state.ID, p))
	})
	switch {
	case forget && !drop.more:
		b.forget(state)
	case len(drop.items)+len(drop.lost) > 0:
		b.change(state)
	}
	return len(drop.items), drop.more, b.err
}

// dropped is what one transaction takes out of a log.
type dropped struct {
	items []droppedItem
	kept  []Item              // retractions among them, which stay elsewhere
	lost  []feedring.Position // of items that are damaged
	more  bool
}

// droppedItem is what remove must know of an item.
type droppedItem struct {
	at  feedring.Position
	row rows.Log
}

// last returns the position of the last item; zero: there is none.
func (d *dropped) last() feedring.Position {
	if len(d.items) == 0 {
		return feedring.Position{}
	}
	return d.items[len(d.items)-1].at
}

// chooseDropped looks at the old end of a log, and sets state.First to the first item
// after what it chose. Damaged items on the way are chosen too: there is nothing left
// of them but a hole. At one that the disk does not give for the moment it ends,
// unless all is to be forgotten.
func (s *Store) chooseDropped(ctx context.Context, txn values.Txn, state *heads.State, old func(time.Time) bool, forget bool) (d dropped, err error) {
	var passing error
	moved := 0
	state.First = feedring.Position{}
	err = s.eachLog(ctx, txn, state.ID, feedring.Position{}, func(p feedring.Position, r *rows.Log, lost *values.Damage) bool {
		full := len(d.items)+len(d.lost) >= pruneRows || moved > maxMoved
		switch {
		case full:
			state.First, d.more = p, r == nil || old(r.Seen)
			return false
		case r == nil && !forget && lost.Passing():
			state.First, d.more, passing = p, true, lost
			return false
		case r == nil:
			d.lost = append(d.lost, p)
			return true
		case !old(r.Seen):
			state.First = p
			return false
		}
		if r.Retraction && !forget {
			it := r.Item(state.Ref, p)
			d.kept = append(d.kept, it)
			moved += len(it.Payload)
		}
		d.items = append(d.items, droppedItem{p, rows.Log{Published: r.Published, ID: append([]byte{}, r.ID...)}})
		return true
	})
	if err == nil && passing != nil && len(d.items)+len(d.lost) == 0 {
		err = fmt.Errorf("dropping entries of %s: %w", state.Ref.URL, passing)
	}
	return d, err
}
