package store

import (
	"bytes"
	"fmt"
	"sort"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/heads"
	"github.com/feedring/feedring/internal/store/rows"
	"github.com/feedring/feedring/internal/store/values"
)

// loadHeads replaces all heads, and the holes in their logs, by those on disk.
func (s *Store) loadHeads(db *badger.DB) error {
	if err := s.loadHoles(db); err != nil {
		return err
	}
	return s.heads.Replace(func(yield func(heads.State, error) bool) {
		err := s.values.View(db, func(txn values.Txn) error {
			return txn.Each([]byte{rows.KeyRef}, nil, func(item values.Row) (bool, error) {
				state, err := readRef(item)
				return err == nil && yield(state, nil), err
			})
		})
		if err != nil {
			yield(heads.State{}, err)
		}
	})
}

func readRef(item values.Row) (state heads.State, err error) {
	key := item.Key()
	if len(key) != 5 {
		return state, fmt.Errorf("feed row: %w", ErrCorrupt)
	}
	state.ID = rows.RefID(uint32(key[1])<<24 | uint32(key[2])<<16 | uint32(key[3])<<8 | uint32(key[4]))
	err = item.Value(func(row []byte) (err error) {
		state.Head, err = rows.DecodeRef(row)
		return err
	})
	return state, err
}

// Head returns what is stored of ref; false if nothing ever was. It does not
// touch the disk.
func (s *Store) Head(ref feedring.FeedRef) (Head, bool) {
	state, ok := s.heads.Get(ref)
	return state.Head, ok
}

// LogHead returns where the log of ref ends: at no position if nothing was ever
// stored. It does not touch the disk.
func (s *Store) LogHead(ref feedring.FeedRef) feedring.Head {
	h, ok := s.Head(ref)
	if !ok {
		return feedring.Head{Feed: ref}
	}
	return feedring.Head{Feed: ref, Position: h.Last, Hash: h.Hash}
}

// Heads returns all heads, ordered by ref. It does not touch the disk. There may
// be a million: who wants some of them asks HeadsWhere.
func (s *Store) Heads() []Head { return s.HeadsWhere(func(*Head) bool { return true }) }

// Entries counts what is stored of the feeds for which want is true, which is as
// that of HeadsWhere. It does not touch the disk.
func (s *Store) Entries(want func(*Head) bool) (count int) {
	for state := range s.heads.All() {
		if want(&state.Head) {
			count += state.Count
		}
	}
	return count
}

// Current counts the entries of ref: without their older versions, and without those
// that were taken back. It looks at the rows of both.
func (s *Store) Current(ref feedring.FeedRef) (count int, err error) {
	state, ok := s.heads.Get(ref)
	if !ok {
		return 0, nil
	}
	count = state.Count
	err = s.view(func(txn values.Txn) error {
		return txn.Each(rows.OldPrefix(state.ID), nil, func(row values.Row) (bool, error) {
			count--
			return true, row.Value(func(value []byte) error {
				if bytes.Equal(value, rows.TakenBack) { // the retraction is in the log, too
					count--
				}
				return nil
			})
		})
	})
	return max(count, 0), err
}

// HeadsWhere returns the heads for which want is true, ordered by ref. It is
// called for all in no order while nothing can be written, so it must neither
// call the Store nor wait for who does. It does not touch the disk.
func (s *Store) HeadsWhere(want func(*Head) bool) []Head {
	var all []Head
	for state := range s.heads.All() {
		if want(&state.Head) {
			all = append(all, state.Head)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Ref.Compare(all[j].Ref) < 0 })
	return all
}

// Publishers returns who published the feed at url, as far as something of it is
// held, in order. It does not touch the disk.
func (s *Store) Publishers(url string) []feedring.PeerID { return s.heads.Publishers(url) }

// Refs returns the refs of all heads, in order.
func (s *Store) Refs() []feedring.FeedRef { return s.heads.Refs() }
