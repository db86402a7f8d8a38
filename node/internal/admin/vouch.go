package admin

import (
	"context"
	"slices"
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/origin/watch"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/internal/web"
)

const (
	maxSites = 32 // of one "feedring vouch"
	// maxFeedsTold is of how many feeds of a site it is told what they say.
	maxFeedsTold = 3
)

// Vouch implements web.Backend.
func (d *Admin) Vouch(ctx context.Context, site string) (web.VouchAdvice, error) {
	doc := vouch.Document{Network: d.cfg.Network, Peers: []feedring.PeerID{d.id}, Addresses: d.cfg.Host.Addrs()}
	var sites []string
	for _, url := range d.cfg.Feeds.Published() {
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
		d.cfg.Sites.Forget(s)
	}
	for _, url := range doc.Feeds {
		d.cfg.Sites.Forget(vouch.SitesOf(url)...)
	}
	d.checkSites()
	d.cfg.Members.AskAgain()
	every, vouched := watch.MeanInterval, watch.VouchedEvery
	if d.cfg.Interval > 0 {
		every, vouched = d.cfg.Interval, d.cfg.Interval
	}
	advice := web.VouchAdvice{
		Document: doc, Sites: []web.SiteStatus{},
		FetchEvery: int(every.Seconds()), VouchedFetchEvery: int(vouched.Seconds()),
		Required: d.cfg.Members.HidesAny(),
	}
	for _, s := range sites[:min(len(sites), maxSites)] {
		advice.Sites = append(advice.Sites, d.siteStatus(ctx, s, doc.Feeds, !advice.Required))
	}
	var err error
	if advice.Instructions, err = instructions(doc, sites, !advice.Required); err != nil {
		return web.VouchAdvice{}, err
	}
	return advice, nil
}

// checkSites makes the groups check again: whoever asks what to publish has
// published it, or is about to.
func (d *Admin) checkSites() {
	for theme := range d.cfg.Loop.View().Memberships {
		d.cfg.Loop.Tell(theme.Group(), group.CheckSites{})
	}
}

// siteStatus tells whether a site names this peer; by the words of its feeds, too, if byFeed
// is set.
func (d *Admin) siteStatus(ctx context.Context, site string, feeds []string, byFeed bool) web.SiteStatus {
	v, err := d.cfg.Sites.Check(ctx, site, d.id, feeds, vouch.Hearsay{})
	st := web.SiteStatus{Site: site, Vouched: v.Named, Way: string(v.By), Error: v.Detail, Told: v.Told}
	if err != nil {
		st.Error = err.Error()
	}
	if !st.Vouched && byFeed {
		d.inFeeds(ctx, &st, feeds)
	}
	return st
}

// inFeeds adds what the feeds of a site say themselves.
func (d *Admin) inFeeds(ctx context.Context, st *web.SiteStatus, feeds []string) {
	left := maxFeedsTold
	for _, url := range feeds {
		if !slices.Contains(vouch.SitesOf(url), st.Site) {
			continue
		}
		v, err := d.cfg.Sites.CheckFeed(ctx, url, d.cfg.Feeds.Link(url), d.id, vouch.Hearsay{})
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

// instructions tells each site what it publishes, with its own feeds alone.
func instructions(doc vouch.Document, sites []string, byFeed bool) (string, error) {
	var parts []string
	if len(sites) == 0 {
		parts, sites = []string{"This peer publishes no feed of a site yet: example.org stands for your site.\n"}, []string{"example.org"}
	}
	for _, site := range sites[:min(len(sites), maxSites)] {
		own := doc
		own.Feeds = nil
		for _, url := range doc.Feeds {
			if slices.Contains(vouch.SitesOf(url), site) {
				own.Feeds = append(own.Feeds, url)
			}
		}
		text, err := vouch.Instructions(own, site, byFeed)
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n"), nil
}
