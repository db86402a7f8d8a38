package preview

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/vouch"
)

// Joinable is what a feed's rel="feedring" offers that this peer has not taken: a
// site to join through, or a peer. Nothing is ever joined for it.
func (f *Finder) Joinable(feedURL, link string) (site string, id feedring.PeerID) {
	if site, id = vouch.Offer(feedURL, link); site == "" && id == "" || f.joined(site, id) {
		return "", ""
	}
	return site, id
}

// joined reports whether this peer is with a site's peer already, or is it.
func (f *Finder) joined(site string, id feedring.PeerID) bool {
	connected := func(p host.PeerStatus) bool { return p.ID == id }
	if site != "" && slices.Contains(f.cfg.Joins.All(), site) || id == f.cfg.Self || slices.ContainsFunc(f.cfg.Host.Peers(), connected) {
		return true
	}
	for _, m := range f.cfg.Views.View().Memberships {
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
