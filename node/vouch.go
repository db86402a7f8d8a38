package node

import (
	"context"
	"net"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/vouch"
)

func (n *Node) checker() vouch.Checker {
	return vouch.Checker{Client: n.outside, Resolver: net.DefaultResolver, Network: n.cfg.Network, Manners: siteManners{n.origins}}
}

// vouchedBy tells of each feed of a theme which site names its publisher, as
// the group has it now.
func (n *Node) vouchedBy(theme feedring.Theme) func(feedring.FeedRef) string {
	return func(ref feedring.FeedRef) string {
		if v, ok := n.loop.View().Memberships[theme]; ok {
			return v.VouchedBy(ref)
		}
		return ""
	}
}

// lookAtSitesOf makes the group of one of this peer's feeds look again at the
// sites of that feed: somebody says that something changed there.
func (n *Node) lookAtSitesOf(url string) {
	f, ok := n.origins.get(url)
	if !ok || f.theme() == "" {
		return
	}
	n.sites.Doubt(vouch.SitesOf(url)...)
	n.loop.Tell(f.theme().Group(), group.CheckSites{})
}

// resolve finds the peers of a domain given to --join.
func (n *Node) resolve(ctx context.Context, domain string) ([]string, error) {
	doc, err := n.checker().Fetch(ctx, domain)
	return doc.Addresses, err
}

// StandsBehind names the site that a feed's entries may speak for: this peer's
// own feeds it read there itself.
func (n *Node) StandsBehind(theme feedring.Theme, ref feedring.FeedRef) string {
	if ref.Publisher != n.ID() {
		return n.vouchedBy(theme)(ref)
	}
	sites := vouch.SitesOf(ref.URL)
	if len(sites) == 0 {
		return ""
	}
	return sites[len(sites)-1]
}
