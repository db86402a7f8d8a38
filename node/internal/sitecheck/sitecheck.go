// Package sitecheck asks the sites of feeds which peers they name, as the
// machines want to know.
package sitecheck

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/outbound"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/safehttp"
	"github.com/feedring/feedring/internal/vouch"
)

const within = 100 * time.Second // a site that was asked a moment ago is asked a minute later

// Loop is the machine's.
type Loop interface {
	Tell(feedring.GroupID, group.Input)
	Now() time.Time
	View() *peer.View
	ViewSince(ctx context.Context, at time.Time) *peer.View
}

// Feeds are this peer's own feeds, and the limits of asking hosts.
type Feeds interface {
	// Link is the rel="feedring" that the last look at an own feed found.
	Link(url string) string
	// Visit calls ask when the host of url may be asked.
	Visit(ctx context.Context, url string, ask func(context.Context) error) error
}

// Blocks tells what is blocked at this peer.
type Blocks interface {
	Feed(feedring.FeedRef) bool
	// OwnFeed is Feed without the lists of others.
	OwnFeed(feedring.FeedRef) bool
}

// Config is what a checker needs.
type Config struct {
	Self    feedring.PeerID
	Sites   *vouch.Memory
	Feeds   Feeds
	Fetcher *fetch.Fetcher
	Blocks  Blocks // nil: nothing is blocked
	Loop    Loop
	Tasks   Tasks
	Log     *slog.Logger
}

// Checker asks sites, a few at a time.
type Checker struct {
	cfg    Config
	ctx    context.Context
	queue  *queue
	budget *outbound.Budget // of looks at sites of what others publish
	marks  *marks
}

// New returns a checker whose work ends with ctx.
func New(ctx context.Context, cfg Config) *Checker {
	c := &Checker{cfg: cfg, ctx: ctx, budget: outbound.New()}
	c.queue = newQueue(c, cfg.Loop, cfg.Tasks)
	c.marks = newMarks(c)
	return c
}

// Check does group.Check, and reports back as an input. It never blocks.
func (c *Checker) Check(o group.Check) { c.queue.add(o) }

// check is one look: whether a site of the feed names the feed's publisher.
func (c *Checker) check(o siteCheck) group.Checked {
	if c.cfg.Blocks != nil && c.cfg.Blocks.Feed(o.Feed) {
		return group.Checked{Feed: o.Feed, Unknown: true} // nobody there is asked
	}
	ctx, cancel := context.WithTimeout(c.accountOf(o.Feed.Publisher), within)
	defer cancel()
	verdict, err := c.verdict(ctx, o)
	key := markKey{publisher: o.Feed.Publisher, feed: o.Feed.URL}
	switch {
	case err == nil && verdict.Named:
		c.marks.note(key, "", verdict)
	case err == nil:
		c.marks.withdraw(key)
	}
	return group.Checked{
		Feed: o.Feed, Vouched: verdict.Named, Unknown: err != nil,
		Vouch: group.Vouch{Site: verdict.Site, Publisher: o.Feed.Publisher, Feeds: verdict.Feeds, At: c.cfg.Loop.Now()},
	}
}

// accountOf is a context in which requests draw on the account of a publisher. What this
// peer publishes itself its owner chose.
func (c *Checker) accountOf(publisher feedring.PeerID) context.Context {
	if publisher == c.cfg.Self {
		return c.ctx
	}
	return c.budget.For(c.ctx, string(publisher))
}

// verdict asks the sites of a feed, and last the feed itself.
func (c *Checker) verdict(ctx context.Context, o siteCheck) (vouch.Verdict, error) {
	v, heard, unknown := c.sitesVerdict(ctx, o)
	if v.Named {
		return v, nil
	}
	link, err := c.feedLink(ctx, o.Check, heard.Says)
	if err == nil && link != "" {
		if v, err = c.cfg.Sites.CheckFeed(ctx, o.Feed.URL, link, o.Feed.Publisher, heard); v.Named && err == nil {
			return v, nil
		}
	}
	unknown = errors.Join(unknown, err)
	if unknown != nil {
		c.cfg.Log.Debug("site not asked", "feed", o.Feed.URL, "err", unknown)
	}
	return vouch.Verdict{}, unknown
}

// sitesVerdict asks the sites of a feed in turn, with what was heard before. The error
// means that one of them could not be asked and the others did not name the publisher.
func (c *Checker) sitesVerdict(ctx context.Context, o siteCheck) (_ vouch.Verdict, heard vouch.Hearsay, unknown error) {
	heard = vouch.Hearsay{Says: c.says(ctx, o), Asked: o.asked}
	for _, site := range vouch.SitesOf(o.Feed.URL) {
		v, err := c.cfg.Sites.Check(ctx, site, o.Feed.Publisher, []string{o.Feed.URL}, heard)
		if v.Named && err == nil {
			return v, heard, nil
		}
		unknown = errors.Join(unknown, err)
	}
	return vouch.Verdict{}, heard, unknown
}

// feedLink is the rel="feedring" of a feed. This peer's own looks found that of
// its own feeds; another's feed is fetched for it only where the publisher says
// that the link is there, so that an origin is not asked by every checker.
func (c *Checker) feedLink(ctx context.Context, o group.Check, says vouch.Word) (string, error) {
	if o.Feed.Publisher == c.cfg.Self {
		return c.cfg.Feeds.Link(o.Feed.URL), nil
	}
	if says != vouch.SaysNamed {
		return "", nil
	}
	host, err := safehttp.AddressOf(o.Feed.URL)
	if err != nil {
		return "", err
	}
	if err := outbound.Request(ctx, host); err != nil {
		return "", err
	}
	var answer fetch.Answer
	err = c.cfg.Feeds.Visit(ctx, o.Feed.URL, func(ctx context.Context) (err error) {
		answer, err = c.cfg.Fetcher.Fetch(ctx, o.Feed.URL, nil)
		return err
	})
	if err != nil || answer.Document == nil {
		return "", err
	}
	return answer.Document.Feedring, nil
}

// says is what the publisher's own row says of the feed's site. Of this peer's
// own feeds nothing is known: it is the one to find out.
func (c *Checker) says(ctx context.Context, o siteCheck) vouch.Word {
	if o.Feed.Publisher == c.cfg.Self {
		return vouch.SaysNothing
	}
	for _, v := range c.cfg.Loop.ViewSince(ctx, o.asked).Memberships {
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
