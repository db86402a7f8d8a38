package check

import (
	"slices"
	"time"

	"github.com/feedring/feedring/internal/times"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// lookups is what lookups ask for that are under way.
type lookups struct {
	*record
	places map[placeKey][]wanted
}

type placeKey struct {
	at      int32
	group   feedring.GroupID
	id      feedring.QueryID
	attempt uint32
}

// wanted is what a lookup asks for, and what its manager knew of the group when it
// came: that decides who may serve.
type wanted struct {
	since    time.Time
	provider string
	at       time.Time
	view     *group.View   // nil: the peer is in no such group
	whole    bool          // every peer is
	fresh    time.Time     // what is seen later is cached by whoever is whole
	kept     time.Duration // how long entries are fresh
}

// arrives remembers what a lookup asks for, each time that it is asked: one
// that comes while the peer itself, or somebody else, has the same attempt
// looked up is passed over, and what comes after that begins anew.
func (c *lookups) arrives(p int32, m group.Place) {
	key := placeKey{p, m.Group, m.ID, m.Attempt}
	view := c.cfg.Membership(p, c.peer(p).membership(m.Group).theme)
	c.places[key] = append(c.places[key], wanted{m.Since, m.Provider, c.cfg.Clock(p), view, c.allWhole(p, m.Group), c.fresh(p), c.cfg.Freshness})
}

// allWhole reports whether every peer of a group is whole.
func (c *lookups) allWhole(p int32, g feedring.GroupID) bool {
	mark := c.cfg.Clock(p).Add(-c.cfg.Freshness)
	for i := range c.peers {
		s := c.peers[i].find(g)
		if s != nil && s.row != nil && (len(s.row.Backfilling) > 0 || s.row.From.After(mark)) {
			return false
		}
	}
	return true
}

// refused forgets a lookup that goes to another peer.
func (c *lookups) refused(p int32, m group.Place) {
	delete(c.places, placeKey{p, m.Group, m.ID, m.Attempt})
}

// ends returns what was asked for that is answered now, and forgets it.
func (c *lookups) ends(p int32, m group.Placed) []wanted {
	key := placeKey{p, m.Group, m.ID, m.Attempt}
	asked := c.places[key]
	delete(c.places, key)
	return asked
}

// able lists the members that may serve what they cache by what a manager knew
// when a lookup came (docs/protocol.md 9), by rank: those that are whole, else those
// that lack single feeds. None: only publishers may.
func able(want wanted, self feedring.PeerID) (fit []*group.Member) {
	if want.view == nil || !want.since.IsZero() && !want.since.After(want.at.Add(-want.kept)) {
		return nil
	}
	feeds := want.view.Feeds(want.provider)
	mark := times.Later(want.fresh, want.since)
	var nearly []*group.Member
	for i := range want.view.Members {
		m := &want.view.Members[i]
		switch {
		case m.Away, m.Row.Peer != self && m.Row.Admitted.IsZero(), marked(m.Row, feeds, mark):
		case m.Row.Lacks(func(ref feedring.FeedRef) bool { return concerns(ref, feeds) }):
			nearly = append(nearly, m)
		default:
			fit = append(fit, m)
		}
	}
	if len(fit) == 0 {
		return nearly
	}
	return fit
}

// marked reports whether a peer promises what was seen after a mark of its own
// only, that is later than the one that is asked for: and not all feeds are its.
func marked(r *group.Row, feeds []feedring.FeedRef, mark time.Time) bool {
	return r.From.After(mark) && slices.ContainsFunc(feeds, func(ref feedring.FeedRef) bool { return ref.Publisher != r.Peer })
}

// concerns reports whether an exception, which may be of all that one publishes,
// is of one of feeds.
func concerns(exception feedring.FeedRef, feeds []feedring.FeedRef) bool {
	return slices.ContainsFunc(feeds, func(ref feedring.FeedRef) bool {
		return ref == exception || exception.URL == "" && ref.Publisher == exception.Publisher
	})
}
