package store

import (
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/feedring/feedring"
)

// Head is what the store holds of one feed as one peer publishes it. Last and
// Hash stay when all its entries were pruned, so that nobody polls them again.
type Head struct {
	Ref         feedring.FeedRef
	Theme       feedring.Theme    // of the entry at Last
	Private     bool              // of a private feed
	First, Last feedring.Position // least stored, greatest ever stored; First is zero where Count is 0
	Hash        [32]byte          // of the entry at Last
	Count       int               // entries stored
	Seen        time.Time         // the newest Seen ever stored
}

// add counts a new item.
func (h *Head) add(it *Item) {
	if h.Count == 0 || it.Position.Compare(h.First) < 0 {
		h.First = it.Position
	}
	if it.Position.Compare(h.Last) >= 0 {
		h.Last, h.Hash, h.Theme, h.Private = it.Position, it.Hash, it.Theme, it.Private
	}
	if it.Seen.After(h.Seen) {
		h.Seen = it.Seen
	}
	h.Count++
}

// refState is a head with the number that stands for its ref on disk.
type refState struct {
	id refID
	Head
}

// heads keeps every refState in memory. The writer installs states once they
// are on disk.
type heads struct {
	mu    sync.RWMutex
	byRef map[feedring.FeedRef]refState
	byID  map[refID]feedring.FeedRef
	last  refID // the greatest number given
}

// load replaces all states by those on disk.
func (h *heads) load(db *badger.DB) error {
	byRef := make(map[feedring.FeedRef]refState)
	byID := make(map[refID]feedring.FeedRef)
	var last refID
	err := db.View(func(txn *badger.Txn) error {
		return each(txn, []byte{keyRef}, nil, func(item *badger.Item) (bool, error) {
			state, err := readRef(item)
			byRef[state.Ref], byID[state.id], last = state, state.Ref, max(last, state.id)
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
	state.id = refID(uint32(key[1])<<24 | uint32(key[2])<<16 | uint32(key[3])<<8 | uint32(key[4]))
	err = item.Value(func(row []byte) (err error) {
		state.Head, err = decodeRef(row)
		return err
	})
	return state, err
}

func (h *heads) get(ref feedring.FeedRef) (refState, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	state, ok := h.byRef[ref]
	return state, ok
}

func (h *heads) ref(id refID) (feedring.FeedRef, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	ref, ok := h.byID[id]
	return ref, ok
}

// install makes what a batch wrote visible.
func (h *heads) install(changed map[feedring.FeedRef]refState, forgotten map[refID]feedring.FeedRef) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, ref := range forgotten {
		delete(h.byID, id)
		if h.byRef[ref].id == id {
			delete(h.byRef, ref)
		}
	}
	for ref, state := range changed {
		h.byRef[ref], h.byID[state.id], h.last = state, ref, max(h.last, state.id)
	}
}

// Head returns what is stored of ref; false if nothing ever was. It does not
// touch the disk.
func (s *Store) Head(ref feedring.FeedRef) (Head, bool) {
	state, ok := s.heads.get(ref)
	return state.Head, ok
}

// Heads returns all heads, ordered by ref. It does not touch the disk.
func (s *Store) Heads() []Head {
	s.heads.mu.RLock()
	all := make([]Head, 0, len(s.heads.byRef))
	for _, state := range s.heads.byRef {
		all = append(all, state.Head)
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
	for ref := range s.heads.byRef {
		if ref.URL == url {
			all = append(all, ref.Publisher)
		}
	}
	slices.Sort(all)
	return all
}

// Refs returns the refs of all heads, in order.
func (s *Store) Refs() []feedring.FeedRef {
	heads := s.Heads()
	refs := make([]feedring.FeedRef, len(heads))
	for i, h := range heads {
		refs[i] = h.Ref
	}
	return refs
}
