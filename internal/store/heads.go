package store

import (
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/keyed"
	"github.com/feedring/feedring/internal/store/rows"
)

// refState is a head with the number that stands for its ref on disk.
type refState struct {
	id rows.RefID
	Head
}

// heads keeps every refState in memory. The writer installs states once they
// are on disk.
type heads struct {
	mu    sync.RWMutex
	byRef *keyed.Set[feedring.FeedRef, headRow]
	byID  *keyed.Set[rows.RefID, headRow]
	last  rows.RefID // the greatest number given
}

func newTables() (*keyed.Set[feedring.FeedRef, headRow], *keyed.Set[rows.RefID, headRow]) {
	return keyed.New((*headRow).ref), keyed.New(func(r *headRow) rows.RefID { return r.id })
}

// load replaces all states by those on disk.
func (h *heads) load(db *badger.DB) error {
	byRef, byID := newTables()
	var last rows.RefID
	err := db.View(func(txn *badger.Txn) error {
		return each(txn, []byte{rows.KeyRef}, nil, func(item *badger.Item) (bool, error) {
			state, err := readRef(item)
			if err == nil && h.byRef != nil { // others hold the address as it was before
				if old, ok := h.get(state.Ref); ok {
					state.Ref.URL = old.Ref.URL
				}
			}
			row := newHeadRow(&state)
			byRef.Put(row)
			byID.Put(row)
			last = max(last, state.id)
			return true, err
		})
	})
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.byRef, h.byID, h.last = byRef, byID, max(h.last, last)
	return nil
}

func readRef(item *badger.Item) (state refState, err error) {
	key := item.Key()
	if len(key) != 5 {
		return state, fmt.Errorf("feed row: %w", ErrCorrupt)
	}
	state.id = rows.RefID(uint32(key[1])<<24 | uint32(key[2])<<16 | uint32(key[3])<<8 | uint32(key[4]))
	err = item.Value(func(row []byte) (err error) {
		state.Head, err = rows.DecodeRef(row)
		return err
	})
	return state, err
}

func (h *heads) get(ref feedring.FeedRef) (refState, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if row := h.byRef.Get(ref); row != nil {
		return row.state(), true
	}
	return refState{}, false
}

func (h *heads) ref(id rows.RefID) (feedring.FeedRef, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if row := h.byID.Get(id); row != nil {
		return row.ref(), true
	}
	return feedring.FeedRef{}, false
}

// install makes what a batch wrote visible.
func (h *heads) install(changed map[feedring.FeedRef]refState, forgotten map[rows.RefID]feedring.FeedRef) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, ref := range forgotten {
		h.byID.Delete(id)
		if row := h.byRef.Get(ref); row != nil && row.id == id {
			h.byRef.Delete(ref)
		}
	}
	for ref, state := range changed {
		if row := h.byRef.Get(ref); row != nil && row.id == state.id {
			state.Ref.URL = row.url // the same bytes once
			*row = *newHeadRow(&state)
			continue
		}
		row := newHeadRow(&state)
		h.byRef.Put(row)
		h.byID.Put(row)
		h.last = max(h.last, state.id)
	}
}

// Head returns what is stored of ref; false if nothing ever was. It does not
// touch the disk.
func (s *Store) Head(ref feedring.FeedRef) (Head, bool) {
	state, ok := s.heads.get(ref)
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
	s.heads.mu.RLock()
	defer s.heads.mu.RUnlock()
	for row := range s.heads.byRef.All() {
		if state := row.state(); want(&state.Head) {
			count += state.Count
		}
	}
	return count
}

// HeadsWhere returns the heads for which want is true, ordered by ref. It is
// called for all in no order while nothing can be written, so it must neither
// call the Store nor wait for who does. It does not touch the disk.
func (s *Store) HeadsWhere(want func(*Head) bool) []Head {
	var all []Head
	s.heads.mu.RLock()
	for row := range s.heads.byRef.All() {
		if state := row.state(); want(&state.Head) {
			all = append(all, state.Head)
		}
	}
	s.heads.mu.RUnlock()
	sort.Slice(all, func(i, j int) bool { return all[i].Ref.Compare(all[j].Ref) < 0 })
	return all
}

// Publishers returns who published the feed at url, as far as something of it is
// held, in order. It does not touch the disk.
func (s *Store) Publishers(url string) (all []feedring.PeerID) {
	s.heads.mu.RLock()
	defer s.heads.mu.RUnlock()
	for row := range s.heads.byRef.All() {
		if row.url == url {
			all = append(all, row.whose.Value().publisher)
		}
	}
	slices.Sort(all)
	return all
}

// Refs returns the refs of all heads, in order.
func (s *Store) Refs() []feedring.FeedRef {
	s.heads.mu.RLock()
	refs := make([]feedring.FeedRef, 0, s.heads.byRef.Len())
	for row := range s.heads.byRef.All() {
		refs = append(refs, row.ref())
	}
	s.heads.mu.RUnlock()
	sort.Slice(refs, func(i, j int) bool { return refs[i].Compare(refs[j]) < 0 })
	return refs
}
