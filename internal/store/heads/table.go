// Package heads keeps in memory where the log of each feed ends: a million of
// them in little room.
package heads

import (
	"iter"
	"slices"
	"sort"
	"sync"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/keyed"
	"github.com/feedring/feedring/internal/store/rows"
)

// State is a head with the number that stands for its ref on disk.
type State struct {
	ID rows.RefID
	rows.Head
}

// Table holds every State. The store's writer installs states once they are on
// disk. All methods may be called at the same time.
type Table struct {
	mu    sync.RWMutex
	byRef *keyed.Set[feedring.FeedRef, headRow]
	byID  *keyed.Set[rows.RefID, headRow]
	last  rows.RefID // the greatest number given
}

// Replace replaces all states by those given, or none where there is an error.
func (t *Table) Replace(states iter.Seq2[State, error]) error {
	byRef, byID := keyed.New((*headRow).ref), keyed.New(func(r *headRow) rows.RefID { return r.id })
	var last rows.RefID
	for state, err := range states {
		if err != nil {
			return err
		}
		if t.byRef != nil { // others hold the address as it was before
			if old, ok := t.Get(state.Ref); ok {
				state.Ref.URL = old.Ref.URL
			}
		}
		row := newHeadRow(&state)
		byRef.Put(row)
		byID.Put(row)
		last = max(last, state.ID)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byRef, t.byID, t.last = byRef, byID, max(t.last, last)
	return nil
}

// Get returns the state of ref, and whether there is one.
func (t *Table) Get(ref feedring.FeedRef) (State, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if row := t.byRef.Get(ref); row != nil {
		return row.state(), true
	}
	return State{}, false
}

// Ref returns the ref that a number stands for.
func (t *Table) Ref(id rows.RefID) (feedring.FeedRef, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if row := t.byID.Get(id); row != nil {
		return row.ref(), true
	}
	return feedring.FeedRef{}, false
}

// Last returns the greatest number given.
func (t *Table) Last() rows.RefID {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.last
}

// Install makes what was written visible.
func (t *Table) Install(changed map[feedring.FeedRef]State, forgotten map[rows.RefID]feedring.FeedRef) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, ref := range forgotten {
		t.byID.Delete(id)
		if row := t.byRef.Get(ref); row != nil && row.id == id {
			t.byRef.Delete(ref)
		}
	}
	for ref, state := range changed {
		if row := t.byRef.Get(ref); row != nil && row.id == state.ID {
			state.Ref.URL = row.url // the same bytes once
			*row = *newHeadRow(&state)
			continue
		}
		row := newHeadRow(&state)
		t.byRef.Put(row)
		t.byID.Put(row)
		t.last = max(t.last, state.ID)
	}
}

// All gives all states, in no order. Nothing can be installed meanwhile.
func (t *Table) All() iter.Seq[State] {
	return func(yield func(State) bool) {
		t.mu.RLock()
		defer t.mu.RUnlock()
		for row := range t.byRef.All() {
			if !yield(row.state()) {
				return
			}
		}
	}
}

// Totals counts refs and the entries stored of them.
func (t *Table) Totals() (refs, entries int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for row := range t.byRef.All() {
		entries += int(row.count)
	}
	return t.byRef.Len(), entries
}

// Publishers returns who published the feed at url, in order.
func (t *Table) Publishers(url string) (all []feedring.PeerID) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for row := range t.byRef.All() {
		if row.url == url {
			all = append(all, row.whose.Value().publisher)
		}
	}
	slices.Sort(all)
	return all
}

// Refs returns all refs, in order.
func (t *Table) Refs() []feedring.FeedRef {
	t.mu.RLock()
	refs := make([]feedring.FeedRef, 0, t.byRef.Len())
	for row := range t.byRef.All() {
		refs = append(refs, row.ref())
	}
	t.mu.RUnlock()
	sort.Slice(refs, func(i, j int) bool { return refs[i].Compare(refs[j]) < 0 })
	return refs
}
