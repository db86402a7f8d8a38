// Package looks is who looks at the feeds that several peers of a group mirror:
// Own is one peer's, which asks, and Desk a manager's, who chooses. It sends
// nothing, waits for nothing and knows no terms: it is told what came and what
// time it is, and returns what is to be done.
package looks

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// Here is the membership as it is now.
type Here struct {
	Self    feedring.PeerID
	Now     time.Time
	Refresh time.Duration
	Settled bool // the manager that is followed has admitted this peer
	Book    *catalogue.Index
	Vouched map[feedring.FeedRef]string     // the site that names the publisher of a feed
	Away    func(feedring.PeerID) time.Time // since when a peer that is away is so
	Parts   Parts                           // not nil: it is added to
}

// The times of sharing, in refresh periods.
const (
	holds     = 30 // a word of the manager
	siteGone  = 10 // the site's own peer may be away before mirrors look
	urgeEvery = 6
	failedFor = 12 * holds // whom an origin refused may be tried again
)

// Bounds.
const (
	Most      = 8       // peers that look at one feed
	maxAskers = 100_000 // of all feeds together
)

// unheard is how long a feed waits to be looked at while its peer is in no group yet.
const unheard = 2 * time.Second

// Hold is how long a word of the manager holds.
func Hold(refresh time.Duration) time.Duration { return holds * refresh }

func (h *Here) hold() time.Duration { return Hold(h.Refresh) }

// offers lists who offers a feed, this peer and those that are away included.
func (h *Here) offers(url string) []catalogue.Publication {
	feeds := h.Book.Feeds
	i, _ := h.place(feedring.FeedRef{URL: url})
	n := i
	for n < len(feeds) && feeds[n].Ref.URL == url {
		n++
	}
	return feeds[i:n]
}

func (h *Here) place(ref feedring.FeedRef) (int, bool) {
	return slices.BinarySearchFunc(h.Book.Feeds, ref, func(f catalogue.Publication, ref feedring.FeedRef) int { return f.Ref.Compare(ref) })
}

// mayLook reports whether a peer that is there offers a feed.
func (h *Here) mayLook(url string, p feedring.PeerID) bool {
	i, ok := h.place(feedring.FeedRef{URL: url, Publisher: p})
	return ok && !h.Book.Feeds[i].Away
}

// offerers counts the peers that are there and offer a feed.
func (h *Here) offerers(url string) (n int) {
	for _, f := range h.offers(url) {
		if !f.Away {
			n++
		}
	}
	return n
}

// sitesOwn is the peer that the site of a feed names as its own: this one if it
// is, else one that is there, or was there a while ago. Empty: none.
func (h *Here) sitesOwn(offers []catalogue.Publication) (own feedring.PeerID, away bool) {
	for _, f := range offers {
		p := f.Ref.Publisher
		switch {
		case h.Vouched[f.Ref] == "":
		case p == h.Self:
			return p, false
		case f.Away && h.Now.Sub(h.Away(p)) >= siteGone*h.Refresh:
		case own == "" || away && !f.Away:
			own, away = p, f.Away
		}
	}
	return own, away
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
