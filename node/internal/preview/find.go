// Package preview fetches addresses before their feeds are added: it finds the feed
// that a person means, and the peer that a site offers to join.
package preview

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/origin/discover"
	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/origin/watch"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/safehttp"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/contacts"
)

// Feeds are this peer's own feeds.
type Feeds interface {
	// Refuse returns an error for a feed that this peer would never fetch or read.
	Refuse(feedring.FeedSpec) error
	// Knows reports whether a feed is there already, or was: then its address was
	// fetched.
	Knows(feedring.FeedSpec) bool
	// Visit asks an origin when its host may be asked.
	Visit(ctx context.Context, url string, ask func(context.Context) error) error
}

// OptOuts tells which feeds do not want to be mirrored.
type OptOuts interface {
	// MayMirror returns an error for a feed whose site does not want that this peer
	// publishes it.
	MayMirror(ctx context.Context, url string) error
	// MayMirrorRead is MayMirror of a feed that was just read.
	MayMirrorRead(ctx context.Context, url string, noMirrors bool, link string) error
}

// Views is what the machine knows.
type Views interface{ View() *peer.View }

// Config is what a Finder works with.
type Config struct {
	Self     feedring.PeerID
	Feeds    Feeds
	OptOuts  OptOuts // nil: nobody refuses mirrors
	Previews *fetch.Previews
	Views    Views
	Joins    *contacts.Joins
	Host     *host.Host
}

// Finder fetches addresses before their feeds are added.
type Finder struct{ cfg Config }

// New returns a Finder.
func New(cfg Config) *Finder { return &Finder{cfg: cfg} }

// findWithin is how long a command waits to know what it adds.
const findWithin = 8 * time.Second

// siteWithin is how long it waits of that for the site's word.
const siteWithin = 3 * time.Second

// wellKnown is where a site that names no feed may have one.
var wellKnown = [...]string{"/feed", "/rss.xml", "/atom.xml", "/index.xml"}

// FindFeed looks for the feed at an address. One that is to be published must not
// refuse that.
func (f *Finder) FindFeed(ctx context.Context, spec feedring.FeedSpec) (web.Found, error) {
	if f.cfg.OptOuts != nil && spec.Theme != "" && spec.File == "" && f.cfg.Feeds.Refuse(spec) == nil {
		within, cancel := context.WithTimeout(ctx, siteWithin)
		defer cancel()
		if err := f.cfg.OptOuts.MayMirror(within, spec.URL); err != nil {
			return web.Found{URL: spec.URL}, err
		}
	}
	return f.find(ctx, spec)
}

func (f *Finder) find(ctx context.Context, spec feedring.FeedSpec) (web.Found, error) {
	as := web.Found{URL: spec.URL}
	if spec.File != "" || f.cfg.Feeds.Refuse(spec) != nil || f.cfg.Feeds.Knows(spec) {
		return as, nil
	}
	ctx, cancel := context.WithTimeout(ctx, findWithin)
	defer cancel()
	seen, err := f.fetch(ctx, spec.URL)
	var held *fetch.HeldError
	switch {
	case errors.As(err, &held):
		as.Note = held.Error() + ": it is fetched then"
	case errors.Is(err, watch.ErrBusy):
		as.Note, as.Unasked = err.Error()+": it is fetched after them", true
	case seen.Page != nil:
		return f.findOn(ctx, spec.URL, seen.Page, err)
	case seen.Document != nil:
		if f.cfg.OptOuts != nil && spec.Theme != "" {
			if err := f.cfg.OptOuts.MayMirrorRead(ctx, spec.URL, seen.Document.NoMirrors, seen.Document.Feedring); err != nil {
				return as, err
			}
		}
		as.Join, as.SitePeer = f.Joinable(spec.URL, seen.Document.Feedring)
	case errors.Is(err, context.DeadlineExceeded):
		as.Note = "the origin has not answered yet: it is asked again"
	case err != nil && !passing(err):
		return as, &web.NotFeedError{URL: spec.URL, Reason: reason(err)}
	case err != nil:
		as.Note = reason(err) + ": it is fetched again"
	}
	return as, nil
}

// passing reports whether what a fetch met may pass by itself: the origin is busy or
// late, or the way to it is broken. What keeps programs out may have a feed behind it.
func passing(err error) bool {
	var refused *fetch.Error
	if !errors.As(err, &refused) {
		return true
	}
	switch refused.Kind {
	case failure.KindTooManyRequests, failure.KindUnavailable, failure.KindSlow, failure.KindTruncated:
		return true
	case failure.KindNetwork:
		var name *net.DNSError
		var certificate *tls.CertificateVerificationError
		unknown := errors.As(err, &name) && name.IsNotFound
		return !unknown && !errors.As(err, &certificate) && !errors.Is(err, safehttp.ErrNotWeb) && !errors.Is(err, syscall.ECONNREFUSED)
	}
	return refused.Challenge
}

// fetch fetches an address when its host may be asked.
func (f *Finder) fetch(ctx context.Context, address string) (seen fetch.Seen, err error) {
	err = f.cfg.Feeds.Visit(ctx, address, func(ctx context.Context) (err error) {
		seen, err = f.cfg.Previews.Preview(ctx, address)
		return err
	})
	return seen, err
}

// findOn chooses among the feeds that a page names; without any it asks for those
// that sites commonly have, if the page is the site's first. A page that keeps
// programs out may have a feed behind it.
func (f *Finder) findOn(ctx context.Context, address string, page *discover.Page, why error) (web.Found, error) {
	links := slices.DeleteFunc(discover.Main(page.Links()), func(l discover.Link) bool {
		return l.URL == address || l.URL == page.Location // it was fetched, and is none
	})
	switch len(links) {
	case 0:
		if guess := f.guess(ctx, page.Location); guess != "" {
			return web.Found{URL: guess}, nil
		}
		var refused *fetch.Error
		if errors.As(why, &refused) && refused.Challenge {
			return web.Found{URL: address, Note: reason(why) + ": it is fetched again"}, nil
		}
		return web.Found{}, &web.NotFeedError{URL: address, Page: true,
			Reason: "it is " + strings.TrimPrefix(reason(why), "not a feed: ") + " and names no feed"}
	case 1:
		return web.Found{URL: links[0].URL}, nil
	}
	several := &web.SeveralFeeds{Page: address}
	for _, l := range links {
		several.Feeds = append(several.Feeds, web.NamedFeed{URL: l.URL, Title: l.Title})
	}
	return web.Found{}, several
}

// guess asks one address after the other, and ends with the first feed or the
// first that is not answered.
func (f *Finder) guess(ctx context.Context, site string) string {
	u, err := url.Parse(site)
	if err != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		return ""
	}
	for _, path := range wellKnown {
		address := u.ResolveReference(&url.URL{Path: path}).String()
		_, err := f.fetch(ctx, address)
		if err == nil {
			return address
		}
		f.cfg.Previews.Forget(address)
		var refused *fetch.Error
		if !errors.As(err, &refused) || refused.Status == 0 && !refused.Page {
			return ""
		}
	}
	return ""
}

// PreviewMove fetches the address that a feed is to have. What may be there later
// is no error, and told.
func (f *Finder) PreviewMove(ctx context.Context, from, to string) (note string, err error) {
	ctx, cancel := context.WithTimeout(ctx, findWithin)
	defer cancel()
	_, err = f.fetch(ctx, to)
	var held *fetch.HeldError
	switch {
	case err == nil:
		return "", nil
	case errors.As(err, &held):
		return held.Error() + ": it is fetched then", nil
	case errors.Is(err, watch.ErrBusy):
		return err.Error() + ": it is fetched after them", nil
	case errors.Is(err, context.DeadlineExceeded):
		return "the origin has not answered yet: it is asked again", nil
	case passing(err):
		return reason(err) + ": it is fetched again", nil
	}
	return "", &web.MoveError{From: from, To: to, Reason: reason(err)}
}

// reason is what a fetch found instead of a feed, without the address.
func reason(err error) string {
	var refused *fetch.Error
	if errors.As(err, &refused) {
		return refused.Detail
	}
	return err.Error()
}
