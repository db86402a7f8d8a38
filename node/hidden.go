package node

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/node/internal/blocking"
	"github.com/feedring/feedring/node/internal/optouts"
)

// hidden is what this peer neither shows nor passes on: what its owner blocks, and what
// mirrors published of feeds that do not want them; on a network of the mode vouched, what
// peers published that no site names.
type hidden struct {
	*blocking.Blocks
	optOuts *optouts.Keeper
	members *members
}

// Any reports whether anything is hidden.
func (h hidden) Any() bool { return h.Blocks.Any() || h.optOuts.Any() || h.members.HidesAny() }

// Changes is another number whenever something else is hidden.
func (h hidden) Changes() uint64 {
	return h.Blocks.Changes() + h.optOuts.Changes() + h.members.HideChanges()
}

// Feed reports whether a feed of a publisher is hidden.
func (h hidden) Feed(ref feedring.FeedRef) bool {
	return h.Blocks.Feed(ref) || h.optOuts.Hides(ref) || h.members.Hides(ref.Publisher)
}

// Entry reports whether an entry is hidden.
func (h hidden) Entry(e *feedring.Entry) bool {
	return h.Blocks.Entry(e) || h.optOuts.Hides(e.Ref()) || h.members.Hides(e.Publisher)
}

// Item is Entry of a stored one.
func (h hidden) Item(it *store.Item) bool {
	return h.Blocks.Item(it) || h.optOuts.Hides(it.Ref) || h.members.Hides(it.Ref.Publisher)
}
