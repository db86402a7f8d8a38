package origins

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
	"github.com/feedring/feedring/internal/origin/discover"
	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/web"
)

// findWithin is how long a command waits to know what it adds.
const findWithin = 8 * time.Second

// wellKnown is where a site that names no feed may have one.
var wellKnown = [...]string{"/feed", "/rss.xml", "/atom.xml", "/index.xml"}

// Find looks for the feed at an address.
func (o *Feeds) Find(ctx context.Context, spec feedring.FeedSpec) (web.Found, error) {
	as := web.Found{URL: spec.URL}
	if spec.File != "" || o.refuse(spec) != nil || o.knows(spec) {
		return as, nil
	}
	ctx, cancel := context.WithTimeout(ctx, findWithin)
	defer cancel()
	seen, err := o.preview(ctx, spec.URL)
	var held *fetch.HeldError
	switch {
	case errors.As(err, &held):
		as.Note = held.Error() + ": it is looked at then"
	case errors.Is(err, fetch.ErrBusy):
		as.Note, as.Unasked = err.Error()+": it is looked at after them", true
	case seen.Page != nil:
		return o.findOn(ctx, spec.URL, seen.Page, err)
	case seen.Document != nil:
		as.Join, as.SitePeer = o.joinable(spec.URL, seen.Document.Feedring)
	case errors.Is(err, context.DeadlineExceeded):
		as.Note = "the origin has not answered yet: it is asked again"
	case err != nil && !passing(err):
		return as, &web.NotFeedError{URL: spec.URL, Reason: reason(err)}
	case err != nil:
		as.Note = reason(err) + ": it is looked at again"
	}
	return as, nil
}

// passing reports whether what a look met may pass by itself: the origin is busy or
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
		return !unknown && !errors.As(err, &certificate) && !errors.Is(err, syscall.ECONNREFUSED)
	}
	return refused.Challenge
}

// preview looks at an address when its host may be asked.
func (o *Feeds) preview(ctx context.Context, address string) (seen fetch.Seen, err error) {
	err = o.watcher.Visit(ctx, address, func(ctx context.Context) (err error) {
		seen, err = o.previews.Preview(ctx, address)
		return err
	})
	return seen, err
}

// knows reports whether a feed is there already, or was: then its address was
// looked at.
func (o *Feeds) knows(spec feedring.FeedSpec) bool {
	if _, ok := o.get(o.FirstAddress(spec.URL)); ok {
		return true
	}
	st, err := o.kept(spec.URL)
	return err == nil && !st.LastSuccess.IsZero()
}

// findOn chooses among the feeds that a page names; without any it asks for those
// that sites commonly have, if the page is the site's first. A page that keeps
// programs out may have a feed behind it.
func (o *Feeds) findOn(ctx context.Context, address string, page *discover.Page, why error) (web.Found, error) {
	links := slices.DeleteFunc(discover.Main(page.Links()), func(l discover.Link) bool {
		return l.URL == address || l.URL == page.Location // it was looked at, and is none
	})
	switch len(links) {
	case 0:
		if guess := o.guess(ctx, page.Location); guess != "" {
			return web.Found{URL: guess}, nil
		}
		var refused *fetch.Error
		if errors.As(why, &refused) && refused.Challenge {
			return web.Found{URL: address, Note: reason(why) + ": it is looked at again"}, nil
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
func (o *Feeds) guess(ctx context.Context, site string) string {
	u, err := url.Parse(site)
	if err != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		return ""
	}
	for _, path := range wellKnown {
		address := u.ResolveReference(&url.URL{Path: path}).String()
		_, err := o.preview(ctx, address)
		if err == nil {
			return address
		}
		o.previews.Forget(address)
		var refused *fetch.Error
		if !errors.As(err, &refused) || refused.Status == 0 && !refused.Page {
			return ""
		}
	}
	return ""
}

// reason is what a look found instead of a feed, without the address.
func reason(err error) string {
	var refused *fetch.Error
	if errors.As(err, &refused) {
		return refused.Detail
	}
	return err.Error()
}
