package sitecheck

import (
	"context"
	"errors"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/outbound"
	"github.com/feedring/feedring/internal/safehttp"
	"github.com/feedring/feedring/internal/vouch"
)

// Looks for marks are made on strangers' words: what they ask draws on the accounts of
// those (internal/outbound).
const (
	marksKept    = 1 << 14
	markFor      = 7 * 24 * time.Hour // what this peer saw stands
	markAgain    = 24 * time.Hour     // and is looked at again, if somebody asks
	markRetry    = time.Minute        // after a look that saw nothing, doubling up to a day
	markRecheck  = 10 * time.Minute   // after a look that others contradict
	markPrivate  = 2 * time.Second    // both at a private address
	marksAtOnce  = 4
	marksWaiting = 64
)

// marks are what this peer itself saw sites say of publishers.
type marks struct {
	checker *Checker
	places  chan struct{} // of looks that wait or run
	running chan struct{}

	mu    sync.Mutex
	known *lru.Cache[markKey, mark]
}

// markKey is a feed of a publisher, or a name that the publisher gives itself.
type markKey struct {
	publisher feedring.PeerID
	feed      string
	name      string
}

type mark struct {
	site    string    // names the publisher; empty: none was seen to
	by      vouch.Way // where it does
	at      time.Time // when it was seen
	again   time.Time // not before
	failed  int       // looks since then that saw nothing
	pending bool
}

func newMarks(c *Checker) *marks {
	known, _ := lru.New[markKey, mark](marksKept) // the size is positive
	return &marks{checker: c, places: make(chan struct{}, marksWaiting), running: make(chan struct{}, marksAtOnce), known: known}
}

// seen is the site that this peer saw name the publisher; empty: none.
func (m *marks) seen(key markKey) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.known.Get(key); ok && known.site != "" && time.Since(known.at) < markFor {
		return known.site
	}
	return ""
}

// note takes what a look saw.
func (m *marks) note(key markKey, host string, v vouch.Verdict) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	known, _ := m.known.Get(key)
	known.pending = false
	if v.Named {
		known = mark{site: v.Site, by: v.By, at: now, again: now.Add(markAgain)}
	} else {
		retry := markRetry
		if safehttp.IsPrivateHost(host) {
			retry = markPrivate
		}
		known.again = now.Add(min(retry<<min(known.failed, 20), markAgain))
		known.failed++
	}
	m.known.Add(key, known)
}

// wait puts off what the accounts do not allow yet: nothing was asked.
func (m *marks) wait(key markKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, _ := m.known.Get(key)
	known.pending, known.again = false, time.Now().Add(markRetry)
	m.known.Add(key, known)
}

// withdraw forgets what was seen: the site says otherwise now.
func (m *marks) withdraw(key markKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.known.Get(key); ok {
		known.site = ""
		m.known.Add(key, known)
	}
}

// contradicted has the next want look again, though it was seen before: others say that the
// site does not name the publisher, or no more.
func (m *marks) contradicted(key markKey, host string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	least := markRecheck
	if safehttp.IsPrivateHost(host) {
		least = markPrivate
	}
	if known, ok := m.known.Get(key); ok && known.site != "" && time.Since(known.at) >= least && known.again.After(time.Now()) {
		known.again, known.by = time.Now(), ""
		m.known.Add(key, known)
	}
}

// blocked reports whether the publisher, or where it would be asked for, is blocked; for trust,
// whether the owner of this peer blocks it: lists of others bar nobody who is trusted, and
// whether a site vouches for a publisher of theirs is known only once it is asked.
func (m *marks) blocked(key markKey, trust bool) bool {
	blocks := m.checker.cfg.Blocks
	if blocks == nil {
		return false
	}
	ref := feedring.FeedRef{URL: key.feed, Publisher: key.publisher}
	if ref.URL == "" {
		ref.URL = "https://" + key.name
	}
	if trust {
		return blocks.OwnFeed(ref)
	}
	return blocks.Feed(ref)
}

// want looks, if it is time and nothing of it is blocked. It never blocks.
func (m *marks) want(key markKey, host string, look func(context.Context) (vouch.Verdict, error)) {
	if !m.blocked(key, false) {
		m.begin(key, host, look)
	}
}

// wantForTrust is want, where lists of others do not count.
func (m *marks) wantForTrust(key markKey, host string, look func(context.Context) (vouch.Verdict, error)) {
	if !m.blocked(key, true) {
		m.begin(key, host, look)
	}
}

func (m *marks) begin(key markKey, host string, look func(context.Context) (vouch.Verdict, error)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	known, _ := m.known.Get(key)
	if known.pending || known.site != "" && known.by == vouch.InFeed || now.Before(known.again) {
		return
	}
	select {
	case m.places <- struct{}{}:
	default:
		return
	}
	known.pending = true
	m.known.Add(key, known)
	if !m.checker.cfg.Tasks.Run(func() { m.look(key, host, look) }) {
		<-m.places
	}
}

func (m *marks) look(key markKey, host string, look func(context.Context) (vouch.Verdict, error)) {
	defer func() { <-m.places }()
	ctx, cancel := context.WithTimeout(m.checker.accountOf(key.publisher), within)
	defer cancel()
	select {
	case m.running <- struct{}{}:
		defer func() { <-m.running }()
	case <-ctx.Done():
		m.note(key, host, vouch.Verdict{})
		return
	}
	verdict, err := look(ctx)
	switch {
	case errors.Is(err, outbound.ErrSpent):
		m.wait(key)
		return
	case err != nil:
		verdict = vouch.Verdict{}
	case !verdict.Named:
		m.withdraw(key)
	}
	m.note(key, host, verdict)
}

// Attribute says of an entry whose words it is, by what this peer itself saw, else by
// what others say: those of the group, or a provider (told; empty: nothing). Only what
// this peer saw, or published, is the site's copy.
func (c *Checker) Attribute(e *feedring.Entry, told string) {
	site, how := c.vouch(e, told)
	e.Attribute(site, how)
	own := e.Publisher == c.cfg.Self
	e.OfSite = own || how == feedring.Checked && e.Key != "" && feedring.OfSite(e.Feed, e.VouchedBy)
}

func (c *Checker) vouch(e *feedring.Entry, named string) (site string, how feedring.Vouch) {
	ref, told := e.Ref(), named
	if e.Theme == "" {
		return "", feedring.NotVouched
	}
	key := markKey{publisher: ref.Publisher, feed: ref.URL}
	if by := c.Vouched(e.Theme, ref); by != "" {
		told = by
	}
	if told != "" && !feedring.OfSite(ref.URL, told) {
		told = "" // of the name alone, see below
	}
	site = c.marks.seen(key)
	if site != "" && told == "" {
		c.marks.contradicted(key, feedring.HostOf(ref.URL).Name())
	}
	switch {
	case site != "":
		c.want(e.Theme, ref)
		return site, feedring.Checked
	case told != "":
		c.want(e.Theme, ref)
		return told, feedring.Told
	}
	given := e.Provider
	if e.Claims != "" {
		given = e.Claims
	}
	if name := c.Bearing(ref, given); name != "" {
		return name, feedring.Checked
	}
	if _, claims := feedring.NameOf(ref.URL, given); claims != "" && string(claims) == named {
		return named, feedring.Told
	}
	return "", feedring.NotVouched
}

// Vouched returns the site that names the publisher of a feed, as the feed's group has
// it; empty: none does. It looks nowhere.
func (c *Checker) Vouched(theme feedring.Theme, ref feedring.FeedRef) string {
	if v, ok := c.cfg.Loop.View().Memberships[theme]; ok {
		return v.VouchedBy(ref)
	}
	return ""
}

// SiteCopies reports whether the copies of a feed that a publisher makes are the site's,
// as this peer saw or did itself. Where others say so it looks.
func (c *Checker) SiteCopies(theme feedring.Theme, ref feedring.FeedRef) bool {
	if ref.Publisher == c.cfg.Self {
		return true
	}
	e := feedring.Entry{Feed: ref.URL, Publisher: ref.Publisher, Theme: theme}
	_, how := c.vouch(&e, "")
	return how == feedring.Checked
}

// Bearing returns the site by which a publisher may give a feed a name that is not of
// the feed's host, as this peer saw; empty: none is needed, or none was seen yet.
func (c *Checker) Bearing(ref feedring.FeedRef, given feedring.Provider) string {
	_, claims := feedring.NameOf(ref.URL, given)
	if claims == "" {
		return ""
	}
	site := vouch.SiteOf("https://" + string(claims))
	if len(vouch.SitesOf("https://"+site)) == 0 || safehttp.IsPrivateHost(site) {
		return ""
	}
	if c.marks.seen(markKey{publisher: ref.Publisher, feed: ref.URL}) == site {
		return site
	}
	key := markKey{publisher: ref.Publisher, name: site}
	named := c.marks.seen(key)
	c.marks.want(key, site, c.look(key, site))
	if named != "" {
		return site
	}
	return ""
}

// Names reports whether this peer saw a site name the publisher of a feed, for that feed or any.
// It asks the site, for trust by hand and so whatever lists of others block, and does not wait for the
// answer.
func (c *Checker) Names(site string, ref feedring.FeedRef) bool {
	key := markKey{publisher: ref.Publisher, feed: ref.URL}
	named := c.marks.seen(key) == site
	if !named {
		key = markKey{publisher: ref.Publisher, name: site}
		named = c.marks.seen(key) != ""
	}
	c.marks.wantForTrust(key, site, c.look(key, site))
	return named
}

// look asks one site for a mark.
func (c *Checker) look(key markKey, site string) func(context.Context) (vouch.Verdict, error) {
	var feeds []string
	if key.feed != "" {
		feeds = []string{key.feed}
	}
	return func(ctx context.Context) (vouch.Verdict, error) {
		return c.cfg.Sites.Check(ctx, site, key.publisher, feeds, vouch.Hearsay{})
	}
}

// want looks at the sites of a feed for this peer's own readers.
func (c *Checker) want(theme feedring.Theme, ref feedring.FeedRef) {
	host := feedring.HostOf(ref.URL).Name()
	c.marks.want(markKey{publisher: ref.Publisher, feed: ref.URL}, host, func(ctx context.Context) (vouch.Verdict, error) {
		v, _, err := c.sitesVerdict(ctx, siteCheck{Check: group.Check{Group: theme.Group(), Feed: ref}})
		return v, err
	})
}
