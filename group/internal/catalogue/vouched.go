package catalogue

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// VouchAge is how long a vouch counts: a day between looks, and half of one.
const VouchAge = 36 * time.Hour

// vouchedFeeds finds the feeds whose site names the publisher, as seen by two
// of the peers whose turn it is to look, one of them not the publisher.
func vouchedFeeds(rows []*Row, feeds []Publication, now time.Time) map[feedring.FeedRef]string {
	type claim struct {
		by feedring.PeerID
		v  Vouch
	}
	by := map[feedring.PeerID][]claim{}
	for _, r := range rows {
		for _, v := range r.Vouches {
			if now.Sub(v.At) < VouchAge && v.At.Sub(now) < VouchAge {
				by[v.Publisher] = append(by[v.Publisher], claim{r.Peer, v})
			}
		}
	}
	vouched := map[feedring.FeedRef]string{}
	if len(by) == 0 {
		return vouched
	}
	circle := LayCircle(rows)
	for _, f := range feeds {
		witnesses := map[string][]feedring.PeerID{}
		for _, c := range by[f.Ref.Publisher] {
			if SiteOf(f.Ref.URL, c.v.Site) && (len(c.v.Feeds) == 0 || slices.Contains(c.v.Feeds, f.Ref.URL)) &&
				!slices.Contains(witnesses[c.v.Site], c.by) && circle.Looks(f.Ref, c.by, 2*Checkers) {
				witnesses[c.v.Site] = append(witnesses[c.v.Site], c.by)
			}
			if len(witnesses[c.v.Site]) >= 2 { // two differ, so one is not the publisher
				vouched[f.Ref] = c.v.Site
				break
			}
		}
	}
	return vouched
}

// SiteOf reports whether a site may speak for a feed: its host is the site's,
// or below it.
func SiteOf(feedURL, site string) bool {
	u, err := url.Parse(feedURL)
	if err != nil || site == "" {
		return false
	}
	h := strings.ToLower(u.Hostname())
	return h == site || strings.EqualFold(u.Host, site) || strings.Contains(site, ".") && strings.HasSuffix(h, "."+site)
}
