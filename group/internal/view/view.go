// Package view is what others may read of a membership: snapshots, which never change.
package view

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// Lead is the manager and the secondary, as a View tells them.
type Lead struct {
	Term               feedring.Term // followed; zero where the peer is in no group yet
	Manager, Secondary feedring.PeerID
	Acknowledged       bool // another peer follows the term
}

// Summary is what a View shows of a group in numbers.
type Summary struct {
	Lead
	Addrs                 []string // of the secondary; nil: it is not there
	Peers, Feeds, Clients int      // of the members that are there; clients as far as they are known
}

// View is a snapshot of a membership. Any goroutine may read it. What it holds must not be modified.
type View struct {
	Theme        feedring.Theme
	Group        feedring.GroupID
	Self         feedring.PeerID
	Role         feedring.Role
	Term         feedring.Term // followed; zero where the peer is in no group yet
	Manager      feedring.PeerID
	Secondary    feedring.PeerID
	Acknowledged bool              // another peer follows the term
	Settled      bool              // the role is known: the manager is there, or it is this peer
	Leases       int               // clients of this peer
	Members      []Member          // peers that are there, this one included, by rank
	Away         []feedring.PeerID // peers that are not, by rank
	feeds        []catalogue.Publication
	vouched      map[feedring.FeedRef]string
}

// Member is one peer in a View.
type Member struct {
	Row    *catalogue.Row
	Role   feedring.Role
	Leases int
	Known  bool // Leases is known: to the manager, the secondary, of oneself
	Away   bool // silent for two periods; after a third it leaves Members
}

// Publish tells a View that is being made what is published, and which sites vouch for it.
func (v *View) Publish(feeds []catalogue.Publication, vouched map[feedring.FeedRef]string) {
	v.feeds, v.vouched = feeds, vouched
}

// VouchedBy returns the site that names ref's publisher as its own; empty: the
// feed is a mirror, or nobody has looked yet.
func (v *View) VouchedBy(ref feedring.FeedRef) string { return v.vouched[ref] }

// Holds reports whether this peer says in its own row that every entry of the group which
// was seen after since is here.
func (v *View) Holds(since time.Time) bool {
	i := slices.IndexFunc(v.Members, func(m Member) bool { return m.Row.Peer == v.Self })
	if i < 0 {
		return false
	}
	r := v.Members[i].Row
	return !r.Admitted.IsZero() && !r.From.IsZero() && !r.From.After(since) && len(r.Backfilling) == 0
}

// Serves reports whether a feed of the catalogue, be its publisher away or
// not, has that provider; the empty string asks for any feed.
func (v *View) Serves(provider string) bool {
	return slices.ContainsFunc(v.feeds, func(f catalogue.Publication) bool { return f.Provider.Matches(provider) })
}

// Feeds lists the feeds whose provider is the asked one, in order; of peers
// that are away as well.
func (v *View) Feeds(provider string) []feedring.FeedRef {
	var refs []feedring.FeedRef
	for _, f := range v.feeds {
		if f.Provider.Matches(provider) {
			refs = append(refs, f.Ref)
		}
	}
	return refs
}
