package node

import (
	"net/url"
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/safehttp"
	"github.com/feedring/feedring/internal/vouch"
)

// manners says which origins are no strangers': sites that name this peer, and
// files. Whoever gives an interval knows the origin, and owns what is at a private
// address. What was glanced at is taken from there.
func (n *Node) manners() fetch.Manners {
	local := func(feedURL string) bool { return n.origins.file(feedURL) != "" }
	here := func(feedURL string) bool { return local(feedURL) || n.glances.Holds(feedURL) }
	part := func(feedURL string) fetch.Part { return fetch.Part(n.origins.lookers.of(feedURL).Part) }
	return fetch.Manners{Between: n.cfg.Interval, Local: here, Part: part, Ours: func(feedURL string) bool {
		present := n.origins.addresses.presentOf(feedURL)
		return local(feedURL) || n.cfg.Interval > 0 && atHome(present) || n.vouched(feedURL) && sameSite(feedURL, present)
	}}
}

func atHome(feedURL string) bool {
	u, err := url.Parse(feedURL)
	return err == nil && safehttp.IsPrivateHost(u.Hostname())
}

// sameSite reports whether two addresses are of one site: what a site says of its
// peer is no word for another's machine.
func sameSite(a, b string) bool {
	return a == b || slices.ContainsFunc(vouch.SitesOf(a), func(site string) bool { return slices.Contains(vouch.SitesOf(b), site) })
}

// vouched reports whether the site of an own feed names this peer.
func (n *Node) vouched(feedURL string) bool {
	f, _ := n.origins.Spec(feedURL)
	return f.Theme != "" && n.vouchedBy(f.Theme)(feedring.FeedRef{URL: feedURL, Publisher: n.ID()}) != ""
}
