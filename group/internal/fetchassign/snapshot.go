// Package fetchassign decides which peers of a group fetch a feed that several of them mirror. A Member asks, the
// manager's Assigner chooses. Neither sends, waits or knows terms: they are told what came and what time it is, and
// return what is to be done.
package fetchassign

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/internal/standing"
)

// Snapshot is the membership as it is now.
type Snapshot struct {
	Self    feedring.PeerID
	Now     time.Time
	Refresh time.Duration
	Settled bool // the manager that is followed has admitted this peer
	Index   *catalogue.Index
	Vouched map[feedring.FeedRef]string // the site that names the publisher of a feed
	Members Members
	Parts   Parts // not nil: it is added to
}

// Members is what this peer knows of the others, and of itself.
type Members interface {
	AwaySince(feedring.PeerID) time.Time // since when a peer that is away is so
	Named(url string) bool               // the site of an own feed names this peer, as this peer found itself
	Prefix(feedring.PeerID) standing.Prefix
	Addrs() []string // of this peer
}

// The times of sharing, in refresh periods.
const (
	validPeriods    = 30 // an assignment is valid
	siteAwayPeriods = 10 // the site's own peer may be away before mirrors fetch
	requestPeriods  = 6
	failedPeriods   = 12 * validPeriods // a peer that an origin refused may be tried again
)

// Bounds.
const (
	MaxFetchers   = 8       // fetchers of one feed
	maxCandidates = 100_000 // of all feeds together
)

// soloAfter is how long a feed waits for a fetch while its peer is in no group yet.
const soloAfter = 2 * time.Second

// Validity is how long an assignment of the manager is valid.
func Validity(refresh time.Duration) time.Duration { return validPeriods * refresh }

func (h *Snapshot) validity() time.Duration { return Validity(h.Refresh) }

// offers lists who offers a feed, this peer and those that are away included.
func (h *Snapshot) offers(url string) []catalogue.Publication {
	return h.Index.Offers(url)
}

// offeredBy reports whether a peer that is present offers a feed.
func (h *Snapshot) offeredBy(url string, p feedring.PeerID) bool {
	i, ok := h.Index.Find(feedring.FeedRef{URL: url, Publisher: p})
	return ok && !h.Index.Feeds[i].Away
}

// offerers counts the peers that are there and offer a feed.
func (h *Snapshot) offerers(url string) (n int) {
	for _, f := range h.offers(url) {
		if !f.Away {
			n++
		}
	}
	return n
}

// sitePeer is the peer that the site of a feed names as its own: this one if it is named,
// otherwise one that is present, or was a while ago. Empty: none.
func (h *Snapshot) sitePeer(offers []catalogue.Publication) (own feedring.PeerID, away bool) {
	for _, f := range offers {
		p := f.Ref.Publisher
		switch {
		case h.Vouched[f.Ref] == "":
		case p == h.Self:
			return p, false
		case f.Away && h.Now.Sub(h.Members.AwaySince(p)) >= siteAwayPeriods*h.Refresh:
		case own == "" || away && !f.Away:
			own, away = p, f.Away
		}
	}
	return own, away
}
