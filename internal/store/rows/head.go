package rows

import (
	"time"

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

// Add counts a new item.
func (h *Head) Add(it *Item) {
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
