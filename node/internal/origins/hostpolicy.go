package origins

import (
	"net/url"
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/watch"
	"github.com/feedring/feedring/internal/safehttp"
	"github.com/feedring/feedring/internal/vouch"
)

// hostPolicy holds fetches to what this peer's origins are.
func (o *Feeds) hostPolicy() watch.HostPolicy {
	return watch.HostPolicy{Between: o.Interval, AllowPrivate: o.AllowPrivate, Origins: places{o}}
}

// places says what the origins of feeds are to this peer.
type places struct{ feeds *Feeds }

// Ours reports that an origin is no stranger's: sites that name this peer, and
// files. Whoever gives an interval knows the origin, and owns what is at a private
// address.
func (p places) Ours(feedURL string) bool {
	o := p.feeds
	present := o.addresses.PresentOf(feedURL)
	return o.File(feedURL) != "" || o.Interval > 0 && atHome(present) || o.Vouched(feedURL) && sameSite(feedURL, present)
}

// Local reports that no host is asked: there is a file, or what was previewed is
// taken from there.
func (p places) Local(feedURL string) bool {
	return p.feeds.File(feedURL) != "" || p.feeds.parts.Previews.Holds(feedURL)
}

// Part is what of its host's time a feed was assigned.
func (p places) Part(feedURL string) watch.Part {
	return watch.Part(p.feeds.assignments.of(feedURL).Part)
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

// Vouched reports whether the site of an own feed names this peer.
func (o *Feeds) Vouched(feedURL string) bool {
	f, _ := o.Spec(feedURL)
	return f.Theme != "" && o.VouchedBy(f.Theme, feedring.FeedRef{URL: feedURL, Publisher: o.Self}) != ""
}

// VouchedBy is the site that names the publisher of a feed, as the feed's group has
// it now; empty: none does.
func (o *Feeds) VouchedBy(theme feedring.Theme, ref feedring.FeedRef) string {
	if v, ok := o.Loop.View().Memberships[theme]; ok {
		return v.VouchedBy(ref)
	}
	return ""
}
