package check

import (
	"maps"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// polls counts polls that bring nothing, and keeps what they show.
type polls struct {
	*record
	vain  map[polling]vain
	shown map[polling]feedring.Position // what others showed a peer of its own feed, when it asked, or went on
}

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

func (c *polls) polled(p int32, f group.Fetched) {
	key := polling{p, f.Feed}
	v := c.vain[key]
	progress, answered := f.Head.Position.Compare(v.head) > 0, !f.Failed && f.From == f.Feed.Publisher
	if v.polls++; progress || answered {
		v.polls, v.head = 0, f.Head.Position
	}
	if v.failed++; progress {
		v.failed = 0
	}
	if f.Feed.Publisher == c.cfg.Name(p) && !f.Failed && f.Known.Position.Compare(c.shown[key]) > 0 {
		c.shown[key] = f.Known.Position
	}
	if answered {
		v.told, v.most = true, f.Known.Position
	}
	c.vain[key] = v
}

// gaveUp reports whether a peer polled a feed in vain so often that it may claim to be
// complete all the same: a slow network makes polls fail of entries that exist.
func (c *polls) gaveUp(peer feedring.PeerID, ref feedring.FeedRef) bool {
	return c.vain[polling{c.cfg.Index(peer), ref}].polls >= giveUp
}

// forget drops what a peer polled.
func (c *polls) forget(p int32) {
	maps.DeleteFunc(c.vain, func(k polling, _ vain) bool { return k.at == p })
	maps.DeleteFunc(c.shown, func(k polling, _ feedring.Position) bool { return k.at == p })
}
