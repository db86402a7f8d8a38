package replicate

import (
	"errors"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/store"
)

// errBlocked fails a poll of what this peer does not want. To the machine the feed is one that nobody
// gives, and so an exception of this peer's row: readers that want it are sent elsewhere.
var errBlocked = errors.New("this peer does not want it")

// nothing is what the machine is told of a fetch that has brought nothing yet.
func nothing(o group.Fetch) group.Fetched {
	return group.Fetched{Feed: o.Feed, From: o.From, Known: feedring.Head{Feed: o.Feed}}
}

// blocksFeed reports whether a feed is blocked as far as its name tells.
func (r *Replicator) blocksFeed(ref feedring.FeedRef) bool {
	return r.Blocks != nil && r.Blocks.Feed(ref)
}

// blocksEntry reports whether an entry of a feed that is not is blocked for its provider.
func (r *Replicator) blocksEntry(e *feedring.Entry) bool {
	return r.Blocks != nil && r.Blocks.Entry(e)
}

// serves reports whether a stored feed is given to others: its newest entry is not
// blocked.
func (r *Replicator) serves(h *store.Head) bool {
	if r.Blocks == nil || !r.Blocks.Any() {
		return true
	}
	if r.Blocks.Feed(h.Ref) {
		return false
	}
	it, err := r.Store.Get(h.Ref, h.Last)
	return err != nil || !r.Blocks.Item(&it)
}
