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

// claim is a vouch and whose row it is in.
type claim struct {
	by feedring.PeerID
	v  *Vouch
}

// Vouched finds the feeds of x whose site names the publisher, as seen by two of
// the peers whose turn it is to look, one of them not the publisher.
func (x *Index) Vouched(now time.Time) map[feedring.FeedRef]string {
	by := map[feedring.PeerID][]claim{}
	for _, r := range x.Rows {
		for i := range r.Vouches {
			if v := &r.Vouches[i]; now.Sub(v.At) < VouchAge && v.At.Sub(now) < VouchAge {
				by[v.Publisher] = append(by[v.Publisher], claim{r.Peer, v})
			}
		}
	}
	vouched := map[feedring.FeedRef]string{}
	if len(by) == 0 {
		return vouched
	}
	circle := LayCircle(x.Rows)
	for i := range x.Feeds {
		ref := x.Feeds[i].Ref
		if site := circle.site(ref, by[ref.Publisher]); site != "" {
			vouched[ref] = site
		}
	}
	return vouched
}

// site returns the first site by which two peers claim that it names ref's
// publisher; since two differ, one of them is not the publisher.
func (c Circle) site(ref feedring.FeedRef, claims []claim) string {
	if len(claims) < 2 {
		return ""
	}
	h := hostOf(ref.URL)
	var good []claim
	for _, one := range claims {
		said := func(o claim) bool { return o.v.Site == one.v.Site && o.by == one.by }
		if !h.below(one.v.Site) || len(one.v.Feeds) > 0 && !slices.Contains(one.v.Feeds, ref.URL) ||
			slices.ContainsFunc(good, said) || !c.Looks(ref, one.by, 2*Checkers) {
			continue
		}
		if slices.ContainsFunc(good, func(o claim) bool { return o.v.Site == one.v.Site }) {
			return one.v.Site
		}
		good = append(good, one)
	}
	return ""
}

// SiteOf reports whether a site may speak for a feed: its host is the site's,
// or below it.
func SiteOf(feedURL, site string) bool { return hostOf(feedURL).below(site) }

// host is where a feed is, with its port and without; empty where its address
// is none.
type host struct{ whole, name string }

func hostOf(feedURL string) host {
	u, err := url.Parse(feedURL)
	if err != nil {
		return host{}
	}
	return host{whole: u.Host, name: strings.ToLower(u.Hostname())}
}

func (h host) below(site string) bool {
	if site == "" || h == (host{}) {
		return false
	}
	return h.name == site || strings.EqualFold(h.whole, site) ||
		strings.Contains(site, ".") && len(h.name) > len(site) && strings.HasSuffix(h.name, site) && h.name[len(h.name)-len(site)-1] == '.'
}
