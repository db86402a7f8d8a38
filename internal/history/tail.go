package history

import (
	"slices"
	"sync"

	"github.com/feedring/feedring/internal/store"
)

// tail is the index in memory of what came since the newest segment was made of
// it. Only the worker adds to it; searches read.
type tail struct {
	mu    sync.RWMutex
	lists *lists
	keys  []store.RowKey // of its documents, in the order in which they came
	read  uint64         // journal rows up to this one are in it, or in segments
}

func newTail(read uint64) *tail { return &tail{lists: newLists(), read: read} }

func (t *tail) add(k store.RowKey, row *store.Row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lists.add(k, row)
	t.keys = append(t.keys, k)
}

func (t *tail) through(number uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.read = number
}

// stands returns how far the journal is read, and what that made.
func (t *tail) stands() (read uint64, docs, weight int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.read, len(t.keys), t.lists.weight
}

// find returns the keys of the candidates, in any order, and the number of the
// journal row from which on the tail knows nothing.
func (t *tail) find(n *need, s *scratch) (keys []store.RowKey, read uint64, err error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	found, err := n.find(t.lists, s)
	if err != nil {
		return nil, 0, err
	}
	for id := found.next(0); id >= 0; id = found.next(id + 1) {
		keys = append(keys, t.keys[id])
	}
	s.put(found)
	return keys, t.read, nil
}

// sortedKeys sorts keys, each once.
func sortedKeys(keys []store.RowKey) []store.RowKey {
	slices.SortFunc(keys, store.RowKey.Compare)
	return slices.Compact(keys)
}
