package store

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/find"
	"github.com/feedring/feedring/internal/store/heads"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/values"
)

// An entry that was stored and cannot be read any more is one entry's loss: whoever
// reads it is told that it is not there, and the writer takes it out of the log.

// loseDamaged takes an entry out of the log that a reader found damaged.
func (s *Store) loseDamaged(d *values.Damage) {
	if s.db == nil {
		return // who reads it next reports it again
	}
	err := s.change(func(b *batch) error {
		row, err := b.Get(d.Key)
		if err != nil {
			return find.IgnoreLost(err)
		}
		if !find.Lost(row.Value(func([]byte) error { return nil })) {
			return nil // it was replaced meanwhile
		}
		s.damaged.Add(1)
		id, p, ok := rows.LogPlace(d.Key)
		ref, known := s.heads.Ref(id)
		s.opts.Log.Error("store: an entry is damaged and lost here", "feed", ref.URL, "sequence", p.Sequence, "err", d)
		state, held := b.state(ref)
		if !ok || !known || !held || d.Key[0] != rows.KeyLog {
			return b.Delete(d.Key)
		}
		if err := b.lose(&state, p); err == nil {
			b.change(state)
		}
		return err
	})
	if err != nil {
		s.opts.Log.Warn("store: taking a damaged entry out", "err", err)
	}
}

// Damaged counts the entries that were found damaged since the store was opened.
func (s *Store) Damaged() int { return int(s.damaged.Load()) }

// lose removes the rows of an entry that cannot be read, and takes it out of state.
func (b *batch) lose(state *heads.State, p feedring.Position) error {
	b.del(rows.LogKey(state.ID, p))
	b.del(rows.OldKey(state.ID, p))
	err := b.Each(rows.VersionPrefix(state.ID), nil, func(row values.Row) (bool, error) {
		return true, row.Value(func(value []byte) error {
			published, at, err := rows.DecodeVersion(value)
			if err == nil && at == p {
				b.del(row.KeyCopy(nil))
				b.unlist(published, state.ID, p)
			}
			return err
		})
	})
	if state.Count--; err == nil && state.First == p {
		state.First = feedring.Position{}
		err = b.Each(rows.LogPrefix(state.ID), rows.LogKey(state.ID, p), func(row values.Row) (bool, error) {
			if at, ok := rows.LogPosition(row.Key()); ok && at != p {
				state.First = at
			}
			return state.First.IsZero(), nil
		})
	}
	return err
}
