package check

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// polling names what one peer polls.
type polling struct {
	at   int32
	feed feedring.FeedRef
}

// giveUp is how many polls in vain end an exception from a mark
// (docs/protocol.md 10).
const giveUp = 8

// vain counts the polls of a feed since one brought an entry.
type vain struct {
	polls  int
	failed int // … whatever the publisher answered
	head   feedring.Position
	told   bool              // the publisher answered
	most   feedring.Position // … that it has so much
}

func (w *Witness) polled(p int32, f group.Fetched) {
	key := polling{p, f.Feed}
	v := w.rules.vain[key]
	progress, answered := f.Head.Position.Compare(v.head) > 0, !f.Failed && f.From == f.Feed.Publisher
	if v.polls++; progress || answered {
		v.polls, v.head = 0, f.Head.Position
	}
	if v.failed++; progress {
		v.failed = 0
	}
	if f.Feed.Publisher == w.cfg.Name(p) && !f.Failed && f.Known.Position.Compare(w.rules.shown[key]) > 0 {
		w.rules.shown[key] = f.Known.Position
	}
	if answered {
		v.told, v.most = true, f.Known.Position
	}
	w.rules.vain[key] = v
}

// gaveUp reports whether a peer polled a feed in vain for so often that it
// promises all the same to be whole: a network that is slow enough makes polls
// fail of what is there.
func (w *Witness) gaveUp(peer feedring.PeerID, ref feedring.FeedRef) bool {
	return w.rules.vain[polling{w.cfg.Index(peer), ref}].polls >= giveUp
}
