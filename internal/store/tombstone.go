package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/find"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/values"
)

// keepRetractions is how long a retraction outlives its place in the log: a peer
// that was away so long still hears what was taken back, though nobody tells it
// of the entries that it missed.
const keepRetractions = 30 * 24 * time.Hour

// maxMoved bounds the retractions that one transaction takes out of a log, in
// bytes.
const maxMoved = 100 << 10

// Retract does what a retraction says that has no place in the log here, since
// what came before it is not held. It returns when that is on disk, and does
// nothing where nothing of its feed was ever stored.
func (s *Store) Retract(ctx context.Context, it Item) error {
	if err := rows.Validate(&it); err != nil {
		return err
	}
	return s.submit(ctx, &request{cost: costOf(&it), frees: true, apply: func(b *batch) error {
		state, ok := b.state(it.Ref)
		if !ok {
			return nil
		}
		switch _, err := get(b.Txn, rows.TombstoneKey(state.ID, it.Position)); {
		case err == nil:
			return nil // it was done
		case !errors.Is(err, ErrNotFound):
			return err
		}
		if err := b.readsTaken(&it); err != nil {
			return err
		}
		b.retract(state.ID, &it)
		if published, at, found := b.newest(state.ID, it.ID); found && at.Compare(it.Position) < 0 {
			b.supersede(published, state.ID, at, false)
			b.del(rows.VersionKey(state.ID, it.ID))
		}
		b.set(rows.TombstoneKey(state.ID, it.Position), rows.EncodeLog(&it))
		return b.err
	}})
}

// Retractions returns those after a position of ref that are not in its log any
// more, or never were, in the order of positions.
func (s *Store) Retractions(ref feedring.FeedRef, after feedring.Position, most int) (all []Item, err error) {
	state, ok := s.heads.Get(ref)
	if !ok {
		return nil, nil
	}
	err = s.view(func(txn values.Txn) error {
		return txn.Each(rows.TombstonePrefix(state.ID), rows.TombstoneKey(state.ID, rows.NextPosition(after)), func(row values.Row) (bool, error) {
			it, err := tombstoneOf(ref, row)
			if err == nil {
				all = append(all, it)
			}
			return len(all) < most, find.IgnoreLost(err)
		})
	})
	return all, err
}

func tombstoneOf(ref feedring.FeedRef, row values.Row) (it Item, err error) {
	at, ok := rows.LogPosition(row.Key())
	if !ok {
		return it, fmt.Errorf("retraction: %w", ErrCorrupt)
	}
	err = row.Value(func(value []byte) error {
		r, err := rows.DecodeLog(value)
		if err == nil {
			it = r.Item(ref, at)
		}
		return err
	})
	return it, err
}

// dropTombs removes the retractions of ref that were seen before a time.
func (s *Store) dropTombs(ctx context.Context, ref feedring.FeedRef, before time.Time) error {
	for {
		some, err := s.Retractions(ref, feedring.Position{}, pruneRows)
		if err != nil || len(some) == 0 || !some[0].Seen.Before(before) {
			return err
		}
		err = s.submit(ctx, &request{cost: pruneCost, frees: true, apply: func(b *batch) error {
			state, ok := b.state(ref)
			for i := range some {
				if ok && some[i].Seen.Before(before) {
					b.del(rows.TombstoneKey(state.ID, some[i].Position))
				}
			}
			return b.err
		}})
		if err != nil || len(some) < pruneRows {
			return err
		}
	}
}
