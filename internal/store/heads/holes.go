package heads

import (
	"slices"
	"sync"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/rows"
)

// Holes are the places in logs whose entries were damaged: few, or none. All
// methods may be called at the same time.
type Holes struct {
	mu sync.RWMutex
	of map[rows.RefID][]feedring.Position // in order
}

// Replace replaces all holes.
func (h *Holes) Replace(of map[rows.RefID][]feedring.Position) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.of = of
}

// Add adds a hole in the log of a feed.
func (h *Holes) Add(id rows.RefID, p feedring.Position) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at, there := slices.BinarySearchFunc(h.of[id], p, feedring.Position.Compare)
	if there {
		return
	}
	if h.of == nil {
		h.of = make(map[rows.RefID][]feedring.Position)
	}
	h.of[id] = slices.Insert(slices.Clone(h.of[id]), at, p) // readers have the old ones
}

// Of returns the holes in the log of a feed, in order.
func (h *Holes) Of(id rows.RefID) []feedring.Position {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.of[id]
}

// Feeds returns which logs have holes, in order.
func (h *Holes) Feeds() (ids []rows.RefID) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for id := range h.of {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
