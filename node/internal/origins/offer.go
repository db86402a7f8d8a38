package origins

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/vouch"
)

// joinable is what a feed's rel="feedring" offers that this peer has not taken: a
// site to join through, or a peer. Nothing is ever joined for it.
func (o *Feeds) joinable(feedURL, link string) (site string, id feedring.PeerID) {
	if site, id = vouch.Offer(feedURL, link); site == "" && id == "" || o.joined(site, id) {
		return "", ""
	}
	return site, id
}

// joined reports whether this peer is with a site's peer already, or is it.
func (o *Feeds) joined(site string, id feedring.PeerID) bool {
	connected := func(p host.PeerStatus) bool { return p.ID == id }
	if site != "" && slices.Contains(o.Joins.All(), site) || id == o.Self || slices.ContainsFunc(o.Host.Peers(), connected) {
		return true
	}
	for _, m := range o.Loop.View().Memberships {
		for _, member := range m.Members {
			for _, v := range member.Row.Vouches {
				if site != "" && v.Site == site || id != "" && v.Publisher == id {
					return true
				}
			}
		}
	}
	return false
}
