package node

import (
	"net"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/node/internal/origins"
)

func (n *Node) checker() vouch.Checker {
	return vouch.Checker{Client: n.outside, Resolver: net.DefaultResolver, Network: n.cfg.Network, HostPolicy: origins.SiteBackoff{Feeds: n.origins}}
}

// StandsBehind names the site that a feed's entries may speak for: this peer's
// own feeds it read there itself.
func (n *Node) StandsBehind(theme feedring.Theme, ref feedring.FeedRef) string {
	if ref.Publisher != n.ID() {
		return n.origins.VouchedBy(theme, ref)
	}
	sites := vouch.SitesOf(ref.URL)
	if len(sites) == 0 {
		return ""
	}
	return sites[len(sites)-1]
}
