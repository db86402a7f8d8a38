package vouch

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/safehttp"
)

// Resolver is what is needed of *net.Resolver.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Way is how a site names a peer.
type Way string

// The ways.
const (
	WellKnown Way = "well-known" // the document at /.well-known/feedring
	DNS       Way = "dns"        // TXT _feedring.SITE
	InFeed    Way = "feed"       // rel="feedring" in the feed
)

// Verdict is what a site says of a peer.
type Verdict struct {
	Site  string
	Named bool
	By    Way      // where it says so
	Feeds []string // those of the asked ones that it speaks of
	// Detail says why not, one line for people, where Named is false.
	Detail string
	// Told says what is at each place that was asked, a line each.
	Told []string
}

// Checker asks sites. It is safe for concurrent use.
type Checker struct {
	Client     *safehttp.Client
	Resolver   Resolver
	Network    string     // ours; a site that speaks of another one does not name us
	HostPolicy HostPolicy // what hosts asked for; nil: nothing is known
}

// Check asks site whether it names peer for any of feeds: first its document,
// then DNS. Only feeds of the site itself count (SitesOf); without any, being
// named is enough. The error means that the site could not be asked and says
// nothing about the peer: an earlier verdict may stand. It blocks for at most
// 20 s and the resolver's time.
func (c Checker) Check(ctx context.Context, site string, peer feedring.PeerID, feeds []string) (Verdict, error) {
	return c.check(ctx, site, peer, feeds, func(ctx context.Context, by Way, _ func(Document) bool) (Document, error) {
		return c.ask(ctx, by, site)
	})
}

// ask asks a site one way.
func (c Checker) ask(ctx context.Context, by Way, site string) (Document, error) {
	if by == DNS {
		return c.dns(ctx, site)
	}
	return c.wellKnown(ctx, site)
}

// check is Check over a way to ask, which is told what the asker hopes for.
func (c Checker) check(ctx context.Context, site string, peer feedring.PeerID, feeds []string,
	ask func(context.Context, Way, func(Document) bool) (Document, error),
) (Verdict, error) {
	v := Verdict{Site: site}
	own := slices.DeleteFunc(slices.Clone(feeds), func(f string) bool { return !slices.Contains(SitesOf(f), site) })
	if len(feeds) > 0 && len(own) == 0 {
		v.Detail = "none of the feeds is of this site"
		return v, nil
	}
	var unknown error
	for _, by := range []Way{WellKnown, DNS} {
		d, err := ask(ctx, by, func(d Document) bool { return c.judge(&Verdict{}, d, peer, own) })
		var no *noDocument
		switch {
		case errors.As(err, &no):
			v.note(no.why)
			v.Told = append(v.Told, no.why)
		case err != nil:
			unknown = errors.Join(unknown, err)
			v.Told = append(v.Told, err.Error())
		default:
			here := Verdict{}
			if c.judge(&here, d, peer, own) {
				v.Named, v.Feeds, v.By, v.Detail = true, here.Feeds, by, ""
				v.Told = append(v.Told, place(by, site)+" names this peer")
				return v, nil
			}
			v.note(here.Detail)
			v.Told = append(v.Told, place(by, site)+": "+here.Detail)
		}
	}
	if unknown != nil {
		return v, fmt.Errorf("ask %s: %w", site, unknown)
	}
	return v, nil
}

// place is where a site names peers, for people.
func place(by Way, site string) string {
	if by == DNS {
		return "DNS TXT _feedring." + hostOf(site)
	}
	return documentAt(site)
}

// documentAt is the address of a site's document. A site at a private address is asked
// without TLS first.
func documentAt(site string) string {
	if safehttp.IsPrivateHost(hostOf(site)) {
		return "http://" + site + wellKnownPath
	}
	return "https://" + site + wellKnownPath
}

// judge fills in v by what a document says.
func (c Checker) judge(v *Verdict, d Document, peer feedring.PeerID, feeds []string) bool {
	v.Feeds = d.means(feeds)
	switch {
	case d.Network != c.Network:
		v.note(fmt.Sprintf("it speaks of the network %q, not of %q", clip(d.Network), c.Network))
	case len(d.Peers) == 0:
		v.note("it names no peer")
	case !d.names(peer):
		v.note("it names other peers")
	case len(feeds) > 0 && len(v.Feeds) == 0:
		v.note("it names the peer, but for other feeds")
	default:
		v.Named = true
		return true
	}
	v.Feeds = nil
	return false
}

func (v *Verdict) note(why string) {
	if v.Detail != "" {
		why = v.Detail + "; " + why
	}
	v.Detail = why
}

// CheckFeed says whether a feed itself names peer. link is the href of its
// rel="feedring", as package feed finds it (Document.Feedring): "feedring:" and
// a peer id, or the address of a document on one of the feed's own sites. Errors
// are as those of Check.
func (c Checker) CheckFeed(ctx context.Context, feedURL, link string, peer feedring.PeerID) (Verdict, error) {
	return c.checkFeed(feedURL, link, peer, func(at string, _ func(Document) bool) (Document, error) {
		return c.getAt(ctx, at)
	})
}

// getAt fetches the document at an address.
func (c Checker) getAt(ctx context.Context, at string) (Document, error) {
	u, err := url.Parse(at)
	if err != nil {
		return Document{}, none("%q is no address", clip(at))
	}
	return c.get(ctx, u)
}

// checkFeed is CheckFeed over a way to get a document.
func (c Checker) checkFeed(feedURL, link string, peer feedring.PeerID,
	get func(string, func(Document) bool) (Document, error),
) (Verdict, error) {
	v := Verdict{Site: SiteOf(feedURL)}
	link = strings.TrimSpace(link)
	if id, ok := strings.CutPrefix(link, "feedring:"); ok {
		v.Named = feedring.PeerID(id) == peer && isPeerID(id)
		if !v.Named {
			v.Detail = "the feed names another peer"
			return v, nil
		}
		v.By, v.Feeds = InFeed, []string{feedURL}
		return v, nil
	}
	if link == "" {
		v.Detail = `the feed has no rel="feedring"`
		return v, nil
	}
	u, err := resolve(feedURL, link)
	if err != nil || !slices.Contains(SitesOf(feedURL), SiteOf(u.String())) {
		v.Detail = `the feed's rel="feedring" leads to another site`
		return v, nil
	}
	d, err := get(u.String(), func(d Document) bool { return c.judge(&Verdict{}, d, peer, []string{feedURL}) })
	var no *noDocument
	switch {
	case errors.As(err, &no):
		v.Detail = no.why
		return v, nil
	case err != nil:
		return v, fmt.Errorf("ask %s: %w", v.Site, err)
	}
	if c.judge(&v, d, peer, []string{feedURL}) {
		v.By = InFeed
	}
	return v, nil
}

func resolve(base, link string) (*url.URL, error) {
	b, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	return b.Parse(link)
}
