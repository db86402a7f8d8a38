package group

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/hash"
)

// check is this peer's check of one site.
type check struct {
	next      time.Time
	last      time.Time // when the one before began
	vouchedAt time.Time // when the site last named the publisher
	inFlight  bool
	again     bool // asked for while it was under way
	tries     int
}

// sites is what this peer knows of the sites of feeds, by its own checks and by the rows.
type sites struct {
	checks     map[feedring.FeedRef]*check
	vouched    map[feedring.FeedRef]string `state:"derived"` // see vouched
	validUntil time.Time                   `state:"derived"` // until then vouched is so; zero: for ever
}

const (
	vouchEvery = 24 * time.Hour
	checkBatch = 16 // checks begun at once
)

// checkSites begins the checks that are due.
func (m *Machine) checkSites() {
	if m.lead.claim.Term.IsZero() || m.leaving {
		return
	}
	circle := m.index().Here()
	mine := map[feedring.FeedRef]bool{}
	begun, next := 0, m.now.Add(vouchEvery)
	for _, f := range m.index().Feeds {
		if f.Away || !circle.Looks(f.Ref, m.cfg.Self, catalogue.Checkers) {
			continue
		}
		mine[f.Ref] = true
		c := m.sites.checks[f.Ref]
		if c == nil {
			c = &check{next: m.firstCheck(f.Ref)}
			m.sites.checks[f.Ref] = c
		}
		if c.inFlight {
			continue
		}
		if c.next.After(m.now) || begun >= checkBatch {
			next = earlier(next, later(c.next, m.now.Add(m.cfg.Refresh/8)))
			continue
		}
		begun++
		c.inFlight, c.last = true, m.now
		m.emit(Check{Group: m.group, Feed: f.Ref})
	}
	maps.DeleteFunc(m.sites.checks, func(ref feedring.FeedRef, c *check) bool { return !mine[ref] && !c.inFlight && !m.vouches(c) })
	m.timers.Set(timerKey{kind: timerSites}, next)
}

// firstCheck is when ref is due: at once, or a day after the own row's vouch.
func (m *Machine) firstCheck(ref feedring.FeedRef) time.Time {
	for _, v := range m.me().row.Vouches {
		if v.Publisher == ref.Publisher && catalogue.SiteOf(ref.URL, v.Site) && (len(v.Feeds) == 0 || slices.Contains(v.Feeds, ref.URL)) {
			return v.At.Add(vouchEvery)
		}
	}
	return m.now
}

// checked is the outcome of a check. What failed is tried again, and a vouch
// that stood stays while its site cannot be asked, until it is too old.
func (m *Machine) checked(c Checked) {
	state := m.sites.checks[c.Feed]
	if state == nil || !state.inFlight {
		return
	}
	state.inFlight = false
	if c.Vouched && c.Vouch.Publisher == c.Feed.Publisher && catalogue.SiteOf(c.Feed.URL, c.Vouch.Site) {
		state.tries, state.next, state.vouchedAt = 0, m.now.Add(m.checkEvery(c.Feed)), m.now
		m.vouchFor(c.Vouch, c.Feed.URL)
	} else {
		state.next = m.now.Add(m.checkPause(c.Feed, state.tries))
		state.tries++
		if !c.Unknown {
			state.vouchedAt = time.Time{}
			m.withdraw(c.Feed)
		}
	}
	if state.again {
		state.again, state.next = false, m.now
	}
	m.timers.Set(timerKey{kind: timerSites}, earlier(later(m.now, m.timers.At(timerKey{kind: timerSites})), state.next))
}

// checkPause is how long to wait after a check that found nothing. The publisher
// checks its own site often at first, where the document may appear any time;
// others are told by its row when it does. In the end a site is asked once a
// day, until somebody says that there is something to see (CheckSites).
func (m *Machine) checkPause(ref feedring.FeedRef, tries int) time.Duration {
	r := m.cfg.Refresh
	pauses := []time.Duration{r, 10 * r, max(10*r, time.Hour)}
	if ref.Publisher == m.cfg.Self {
		pauses = []time.Duration{r, 3 * r, 10 * r, 30 * r}
	}
	if tries < len(pauses) {
		return min(pauses[tries], vouchEvery)
	}
	pause := pauses[len(pauses)-1]
	for i := len(pauses) - 1; i < tries && pause < vouchEvery; i++ {
		pause *= 4
	}
	return min(pause, m.checkEvery(ref))
}

// checkEvery is a day, less up to an eighth that differs between feeds and peers:
// a site is not asked about all its feeds, or by all its peers, at one time.
func (m *Machine) checkEvery(ref feedring.FeedRef) time.Duration {
	h := hash.Of("look", string(m.cfg.Self), ref.URL, string(ref.Publisher))
	return vouchEvery - time.Duration(h%uint64(vouchEvery/8))
}

// recheckSites brings forward the checks of a publisher's sites, to
// one a refresh period: no publisher can make this peer a burden to a site.
func (m *Machine) recheckSites(publisher feedring.PeerID) {
	for ref, c := range m.sites.checks {
		switch {
		case ref.Publisher != publisher:
		case c.inFlight:
			c.again = true
		default:
			c.tries, c.next = 0, later(m.now, c.last.Add(m.cfg.Refresh))
		}
	}
	if !m.lead.claim.Term.IsZero() {
		m.timers.Set(timerKey{kind: timerSites}, m.now)
	}
}

// vouches reports whether a site's vouch still counts. A vouch has one date for
// all its feeds, the last one; each feed's own is kept here, so that one that
// can no longer be asked about does not live on by the others.
func (m *Machine) vouches(c *check) bool {
	return c != nil && !c.vouchedAt.IsZero() && m.now.Sub(c.vouchedAt) <= catalogue.VouchAge
}

// vouchedFeeds lists the feeds of v that the site named lately, url left out.
func (m *Machine) vouchedFeeds(v Vouch, url string) []string {
	var feeds []string
	for _, f := range v.Feeds {
		if f != url && m.vouches(m.sites.checks[feedring.FeedRef{URL: f, Publisher: v.Publisher}]) {
			feeds = append(feeds, f)
		}
	}
	return feeds
}

// vouchFor puts v, found for the feed at url, into the own row. What was found
// for other feeds of that site stays beside it.
func (m *Machine) vouchFor(v Vouch, url string) {
	v.At = m.now.UTC().Truncate(time.Second)
	v.Feeds = []string{url}
	words := slices.DeleteFunc(slices.Clone(m.me().row.Vouches), func(o Vouch) bool { return m.now.Sub(o.At) > catalogue.VouchAge })
	i := slices.IndexFunc(words, func(o Vouch) bool { return o.Site == v.Site && o.Publisher == v.Publisher })
	if i < 0 {
		words = append(words, v)
	} else {
		v.Feeds = append(v.Feeds, m.vouchedFeeds(words[i], url)...)
		slices.Sort(v.Feeds)
		words[i] = v
	}
	if len(v.Feeds) <= catalogue.MaxVouches && catalogue.WordsFit(words) {
		m.newRow(func(r *Row) { r.Vouches = words })
	}
}

// expireVouches takes vouches out of the own row that are too old to count.
func (m *Machine) expireVouches() {
	words := m.me().row.Vouches
	fell := func(v Vouch) bool {
		return slices.ContainsFunc(v.Feeds, func(f string) bool {
			return !m.vouches(m.sites.checks[feedring.FeedRef{URL: f, Publisher: v.Publisher}])
		})
	}
	if !slices.ContainsFunc(words, fell) {
		return
	}
	var left []Vouch
	for _, v := range words {
		if v.Feeds = m.vouchedFeeds(v, ""); len(v.Feeds) > 0 {
			left = append(left, v)
		}
	}
	m.newRow(func(r *Row) { r.Vouches = left })
}

// withdraw takes the vouch for a feed out of the own row.
func (m *Machine) withdraw(ref feedring.FeedRef) {
	about := func(v Vouch) bool {
		return v.Publisher == ref.Publisher && catalogue.SiteOf(ref.URL, v.Site) && (len(v.Feeds) == 0 || slices.Contains(v.Feeds, ref.URL))
	}
	if !slices.ContainsFunc(m.me().row.Vouches, about) {
		return
	}
	m.newRow(func(r *Row) {
		var left []Vouch
		for _, v := range r.Vouches {
			if about(v) {
				v.Feeds = slices.DeleteFunc(slices.Clone(v.Feeds), func(f string) bool { return f == ref.URL })
				if len(v.Feeds) == 0 {
					continue
				}
			}
			left = append(left, v)
		}
		r.Vouches = left
	})
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// vouched names the site of each feed that its site vouches for.
func (m *Machine) vouched() map[feedring.FeedRef]string {
	if m.sites.vouched == nil {
		m.sites.vouched, m.sites.validUntil = m.index().Vouched(m.now)
		m.sharing.parts = nil
	}
	return m.sites.vouched
}
