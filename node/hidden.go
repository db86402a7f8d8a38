package node

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/node/internal/blocking"
	"github.com/feedring/feedring/node/internal/forks"
	"github.com/feedring/feedring/node/internal/optouts"
)

// hidden is what this peer neither shows nor passes on: what its owner blocks, and what
// mirrors published of feeds that do not want them; on a network with a charter what its
// moderators removed, and in the mode vouched what peers published that no site names; and
// what publishers signed after a fork.
type hidden struct {
	*blocking.Blocks
	optOuts *optouts.Keeper
	members *members
	forks   *forks.Keeper
}

// Any reports whether anything is hidden.
func (h hidden) Any() bool {
	return h.Blocks.Any() || h.optOuts.Any() || h.members.HidesAny() || h.members.removals().RemovesAny() || h.forks.Any()
}

// Changes is another number whenever something else is hidden.
func (h hidden) Changes() uint64 {
	return h.Blocks.Changes() + h.optOuts.Changes() + h.members.HideChanges() + h.members.removals().RemovalChanges() + h.forks.Changes()
}

// Feed reports whether a feed of a publisher is hidden.
func (h hidden) Feed(ref feedring.FeedRef) bool {
	return h.Blocks.Feed(ref) || h.optOuts.Hides(ref) || h.members.Hides(ref.Publisher) || h.members.removals().RemovesFeed(ref) || h.forks.Bars(ref)
}

// Entry reports whether an entry is hidden.
func (h hidden) Entry(e *feedring.Entry) bool {
	return exchanged{h}.Entry(e) || h.members.removals().Removes(e.Ref(), e.ID) || h.forks.Hides(e.Ref(), e.Position)
}

// Item is Entry of a stored one.
func (h hidden) Item(it *store.Item) bool {
	return exchanged{h}.Item(it) || h.members.removals().Removes(it.Ref, it.ID) || h.forks.Hides(it.Ref, it.Position)
}

// exchanged is hidden, but for what comes after a fork, which who polls sees to itself, and
// for entries that moderators removed one by one. Members go on to exchange those that
// moderators removed: the log of a feed is a chain of hashes, so without them it would look
// as if its publisher kept something back.
type exchanged struct{ of hidden }

// Any is that of hidden.
func (x exchanged) Any() bool { return x.of.Any() }

// Feed is that of hidden.
func (x exchanged) Feed(ref feedring.FeedRef) bool { return x.of.Feed(ref) }

// Entry reports whether an entry is neither polled nor served.
func (x exchanged) Entry(e *feedring.Entry) bool { return x.of.Blocks.Entry(e) || x.Feed(e.Ref()) }

// Item is Entry of a stored one.
func (x exchanged) Item(it *store.Item) bool { return x.of.Blocks.Item(it) || x.Feed(it.Ref) }
