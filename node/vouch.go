package node

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/internal/web"
)

const (
	checkWithin = 100 * time.Second // a site that was asked a moment ago is asked a minute later
	maxSites    = 32                // of one "feedring vouch"
	// maxFeedsTold is of how many feeds of a site it is told what they say.
	maxFeedsTold = 3
)

func (n *Node) checker() vouch.Checker {
	return vouch.Checker{Client: n.outside, Resolver: net.DefaultResolver, Network: n.cfg.Network, Manners: siteManners{n.origins}}
}

// check is one look: whether a site of the feed names the feed's publisher.
func (n *Node) check(o siteCheck) group.Checked {
	ctx, cancel := context.WithTimeout(n.ctx, checkWithin)
	defer cancel()
	verdict, err := n.verdict(ctx, o)
	return group.Checked{
		Feed: o.Feed, Vouched: verdict.Named, Unknown: err != nil,
		Vouch: group.Vouch{Site: verdict.Site, Publisher: o.Feed.Publisher, Feeds: verdict.Feeds, At: n.loop.Now()},
	}
}

// verdict asks the sites of a feed in turn, and last the feed itself. The error
// means that one of them could not be asked and the others did not name the
// publisher.
func (n *Node) verdict(ctx context.Context, o siteCheck) (vouch.Verdict, error) {
	var unknown error
	heard := vouch.Hearsay{Says: n.says(ctx, o), Asked: o.asked}
	for _, site := range vouch.SitesOf(o.Feed.URL) {
		v, err := n.sites.Check(ctx, site, o.Feed.Publisher, []string{o.Feed.URL}, heard)
		if v.Named && err == nil {
			return v, nil
		}
		unknown = errors.Join(unknown, err)
	}
	link, err := n.feedLink(ctx, o.Check, heard.Says)
	if err == nil && link != "" {
		var v vouch.Verdict
		if v, err = n.sites.CheckFeed(ctx, o.Feed.URL, link, o.Feed.Publisher, heard); v.Named && err == nil {
			return v, nil
		}
	}
	unknown = errors.Join(unknown, err)
	if unknown != nil {
		n.log.Debug("site not asked", "feed", o.Feed.URL, "err", unknown)
	}
	return vouch.Verdict{}, unknown
}

// feedLink is the rel="feedring" of a feed. This peer's own looks found that of
// its own feeds; another's feed is fetched for it only where the publisher says
// that the link is there, so that an origin is not asked by every checker.
func (n *Node) feedLink(ctx context.Context, o group.Check, says vouch.Word) (string, error) {
	if o.Feed.Publisher == n.ID() {
		return n.origins.link(o.Feed.URL), nil
	}
	if says != vouch.SaysNamed {
		return "", nil
	}
	var answer fetch.Answer
	err := n.origins.watcher.Visit(ctx, o.Feed.URL, func(ctx context.Context) (err error) {
		answer, err = n.fetcher.Fetch(ctx, o.Feed.URL, nil)
		return err
	})
	if err != nil || answer.Document == nil {
		return "", err
	}
	return answer.Document.Feedring, nil
}

// says is what the publisher's own row says of the feed's site. Of this peer's
// own feeds nothing is known: it is the one to find out.
func (n *Node) says(ctx context.Context, o siteCheck) vouch.Word {
	if o.Feed.Publisher == n.ID() {
		return vouch.SaysNothing
	}
	for _, v := range n.loop.viewSince(ctx, o.asked).Memberships {
		if v.Group != o.Group {
			continue
		}
		for _, m := range v.Members {
			if m.Row.Peer == o.Feed.Publisher && slices.ContainsFunc(m.Row.Vouches, func(w group.Vouch) bool {
				return w.Publisher == o.Feed.Publisher && slices.Contains(vouch.SitesOf(o.Feed.URL), w.Site)
			}) {
				return vouch.SaysNamed
			}
		}
	}
	return vouch.SaysNot
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

// Vouch implements web.Backend.
func (n *Node) Vouch(ctx context.Context, site string) (web.VouchAdvice, error) {
	doc := vouch.Document{Network: n.cfg.Network, Peers: []feedring.PeerID{n.ID()}, Addresses: n.host.Addrs()}
	var sites []string
	for url := range n.origins.public() {
		own := vouch.SitesOf(url)
		if len(own) == 0 || site != "" && !slices.Contains(own, site) {
			continue
		}
		doc.Feeds = append(doc.Feeds, url)
		if !slices.Contains(sites, own[0]) {
			sites = append(sites, own[0])
		}
	}
	slices.Sort(doc.Feeds)
	slices.Sort(sites)
	doc.Feeds = doc.Feeds[:min(len(doc.Feeds), vouch.MaxFeeds)]
	if site != "" {
		sites = []string{site}
	}
	for _, s := range sites {
		n.sites.Forget(s)
	}
	for _, url := range doc.Feeds {
		n.sites.Forget(vouch.SitesOf(url)...)
	}
	n.lookAtSites()
	looks, vouched := fetch.MeanInterval, fetch.VouchedEvery
	if n.cfg.Interval > 0 {
		looks, vouched = n.cfg.Interval, n.cfg.Interval
	}
	advice := web.VouchAdvice{
		Document: doc, Sites: []web.SiteStatus{},
		Looks: int(looks.Seconds()), VouchedLooks: int(vouched.Seconds()),
	}
	for _, s := range sites[:min(len(sites), maxSites)] {
		advice.Sites = append(advice.Sites, n.siteStatus(ctx, s, doc.Feeds))
	}
	var err error
	if advice.Instructions, err = instructions(doc, sites); err != nil {
		return web.VouchAdvice{}, err
	}
	return advice, nil
}

// lookAtSites makes the groups look again: whoever asks what to publish has
// published it, or is about to.
func (n *Node) lookAtSites() {
	for theme := range n.loop.View().Memberships {
		n.loop.Tell(theme.Group(), group.Look{})
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
	n.loop.Tell(f.theme().Group(), group.Look{})
}

func (n *Node) siteStatus(ctx context.Context, site string, feeds []string) web.SiteStatus {
	v, err := n.sites.Check(ctx, site, n.ID(), feeds, vouch.Hearsay{})
	st := web.SiteStatus{Site: site, Vouched: v.Named, Way: string(v.By), Error: v.Detail, Told: v.Told}
	if err != nil {
		st.Error = err.Error()
	}
	if !st.Vouched {
		n.inFeeds(ctx, &st, feeds)
	}
	return st
}

// inFeeds adds what the feeds of a site say themselves.
func (n *Node) inFeeds(ctx context.Context, st *web.SiteStatus, feeds []string) {
	left := maxFeedsTold
	for _, url := range feeds {
		if !slices.Contains(vouch.SitesOf(url), st.Site) {
			continue
		}
		v, err := n.sites.CheckFeed(ctx, url, n.origins.link(url), n.ID(), vouch.Hearsay{})
		switch {
		case v.Named && err == nil:
			st.Vouched, st.Way, st.Error = true, string(v.By), ""
			st.Told = append(st.Told, url+" names this peer")
			return
		case err != nil:
			v.Detail = err.Error()
		}
		if left--; left >= 0 {
			st.Told = append(st.Told, url+": "+v.Detail)
		}
	}
}

// resolve finds the peers of a domain given to --join.
func (n *Node) resolve(ctx context.Context, domain string) ([]string, error) {
	doc, err := n.checker().Fetch(ctx, domain)
	return doc.Addresses, err
}

// instructions tells each site what it publishes, with its own feeds alone.
func instructions(doc vouch.Document, sites []string) (string, error) {
	if len(sites) == 0 {
		sites = []string{"example.org"}
	}
	var parts []string
	for _, site := range sites[:min(len(sites), maxSites)] {
		own := doc
		own.Feeds = nil
		for _, url := range doc.Feeds {
			if slices.Contains(vouch.SitesOf(url), site) {
				own.Feeds = append(own.Feeds, url)
			}
		}
		text, err := vouch.Instructions(own, site)
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n"), nil
}
