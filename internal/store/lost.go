package store

import (
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/find"
	"github.com/feedring/feedring/internal/store/heads"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/values"
)

// An entry that was stored and cannot be read any more is one entry's loss: whoever
// reads it is told that it is not there, and the writer takes it out of the log. What
// is left is a hole, which is told to nobody as if nothing had been there, until the
// entry was polled again.

// loseDamaged takes an entry out of the log that a reader found damaged.
func (s *Store) loseDamaged(d *values.Damage) {
	if s.db == nil {
		return // who reads it next reports it again
	}
	taken := false
	err := s.change(func(b *batch) error {
		row, err := b.Get(d.Key)
		if err != nil {
			return find.IgnoreLost(err)
		}
		if !find.Lost(row.Value(func([]byte) error { return nil })) {
			return nil // it was replaced meanwhile
		}
		taken = true
		id, p, ok := rows.LogPlace(d.Key)
		ref, known := s.heads.Ref(id)
		s.opts.Log.Error("store: an entry is damaged and lost here", "feed", ref.URL, "sequence", p.Sequence, "err", d)
		state, held := b.state(ref)
		if !ok || !known || !held || d.Key[0] != rows.KeyLog {
			return b.Delete(d.Key)
		}
		if err := b.lose(&state, false, p); err == nil {
			b.change(state)
		}
		return err
	})
	if err != nil {
		s.opts.Log.Warn("store: taking a damaged entry out", "err", err)
	} else if taken {
		s.damaged.Add(1) // now, when heads and searches know it
	}
}

// Damaged counts the entries that were found damaged since the store was opened.
func (s *Store) Damaged() int { return int(s.damaged.Load()) }

// lose removes the rows of entries that cannot be read, and takes them out of state.
// It looks at all version rows of the feed: who has many such entries names them at
// once.
func (b *batch) lose(state *heads.State, erase bool, all ...feedring.Position) error {
	for _, p := range all {
		b.set(rows.HoleKey(state.ID, p), binary.BigEndian.AppendUint64(nil, uint64(time.Now().Unix())))
		b.holed, b.lost, b.opened = true, append(b.lost, p), append(b.opened, opened{state.ID, p})
		b.removeLog(state.ID, p, erase)
		b.del(rows.OldKey(state.ID, p))
	}
	state.Count -= len(all)
	err := b.Each(rows.VersionPrefix(state.ID), nil, func(row values.Row) (bool, error) {
		return true, row.Value(func(value []byte) error {
			published, at, err := rows.DecodeVersion(value)
			if err == nil && slices.Contains(all, at) {
				b.del(row.KeyCopy(nil))
				b.unlist(published, state.ID, at)
			}
			return err
		})
	})
	if err == nil && slices.Contains(all, state.First) {
		state.First = feedring.Position{}
		err = b.Each(rows.LogPrefix(state.ID), rows.LogKey(state.ID, all[0]), func(row values.Row) (bool, error) {
			if at, ok := rows.LogPosition(row.Key()); ok && !slices.Contains(all, at) {
				state.First = at
			}
			return state.First.IsZero(), nil
		})
	}
	return err
}

// lostAt returns when an entry was found damaged whose hole is at p; zero where that
// is not known.
func (b *batch) lostAt(id rows.RefID, p feedring.Position) time.Time {
	at, err := get(b.Txn, rows.HoleKey(id, p))
	if err != nil || len(at) != 8 {
		return time.Time{}
	}
	return time.Unix(int64(binary.BigEndian.Uint64(at)), 0)
}

// opened is a hole that a batch leaves in a log.
type opened struct {
	log rows.RefID
	at  feedring.Position
}

// fill ends the holes in a log whose position is wanted.
func (b *batch) fill(id rows.RefID, wanted func(feedring.Position) bool) {
	for _, p := range append(b.lost, b.holes.Of(id)...) {
		if wanted(p) {
			b.del(rows.HoleKey(id, p))
			b.holed = true
		}
	}
}

// loadHoles reads which logs have holes.
func (s *Store) loadHoles(db *badger.DB) error {
	of := make(map[rows.RefID][]feedring.Position)
	err := s.values.View(db, func(txn values.Txn) error {
		return txn.Each([]byte{rows.KeyHole}, nil, func(row values.Row) (bool, error) {
			if id, p, ok := rows.LogPlace(row.Key()); ok {
				of[id] = append(of[id], p)
			}
			return true, nil
		})
	})
	s.holes.Replace(of)
	if len(of) > 0 {
		s.tellLost()
	}
	return err
}

// noteHoles takes over that holes changed.
func (s *Store) noteHoles() {
	if err := s.loadHoles(s.db); err != nil {
		s.opts.Log.Warn("store: reading which entries were lost", "err", err)
	}
}

func (s *Store) tellLost() {
	select {
	case s.lost <- struct{}{}:
	default:
	}
}

// Lost is ready after entries were found damaged. It is for one listener.
func (s *Store) Lost() <-chan struct{} { return s.lost }

// NextHole returns the first place after a position of ref whose entry was damaged,
// and whether there is one.
func (s *Store) NextHole(ref feedring.FeedRef, after feedring.Position) (feedring.Position, bool) {
	state, ok := s.heads.Get(ref)
	if !ok {
		return feedring.Position{}, false
	}
	for _, p := range s.holes.Of(state.ID) {
		if p.Compare(after) > 0 {
			return p, true
		}
	}
	return feedring.Position{}, false
}

// BeforeHoles returns, of each feed with a hole, the entry before the first one, for
// whom knows the entries after it to poll them: zero where none is held.
func (s *Store) BeforeHoles() []feedring.Head {
	var all []feedring.Head
	for _, id := range s.holes.Feeds() {
		ref, ok := s.heads.Ref(id)
		holes := s.holes.Of(id)
		if !ok || len(holes) == 0 {
			continue
		}
		before := feedring.Head{Feed: ref}
		err := s.view(func(txn values.Txn) error {
			return s.eachLog(context.Background(), txn, id, feedring.Position{}, func(p feedring.Position, r *rows.Log, _ *values.Damage) bool {
				if r == nil || p.Compare(holes[0]) > 0 {
					return false
				}
				before.Position, before.Hash = p, r.Hash
				return true
			})
		})
		if err == nil {
			all = append(all, before)
		}
	}
	return all
}
