package group

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// book is what is derived from the catalogue. It is made anew after a change.
type book struct {
	others   []feedring.PeerID // all but this peer that have not left, in order of rank
	present  []feedring.PeerID // those of them that are not away
	feeds    []publication     // in order of FeedRef, this peer's included
	vouched  map[feedring.FeedRef]string
	matching map[string][]publication // by asked provider
	made     time.Time
}

// publication is a feed of a row.
type publication struct {
	ref      feedring.FeedRef
	provider feedring.Provider
	away     bool
}

// compareRank orders rows by time of admission, then by peer; who is not yet
// admitted comes last.
func compareRank(a, b *Row) int {
	return cmp.Or(
		boolCompare(a.Admitted.IsZero(), b.Admitted.IsZero()),
		a.Admitted.Compare(b.Admitted),
		cmp.Compare(a.Peer, b.Peer),
	)
}

func (m *Machine) index() *book {
	if m.book != nil {
		return m.book
	}
	b := &book{matching: map[string][]publication{}, made: m.now}
	rows := make([]*Row, 0, len(m.members))
	for _, mem := range m.members {
		if !mem.row.Left {
			rows = append(rows, mem.row)
		}
	}
	slices.SortFunc(rows, compareRank)
	for _, r := range rows {
		away := m.members[r.Peer].away
		if r.Peer != m.cfg.Self {
			b.others = append(b.others, r.Peer)
			if !away {
				b.present = append(b.present, r.Peer)
			}
		}
		for _, f := range r.Feeds {
			b.feeds = append(b.feeds, publication{feedring.FeedRef{URL: f.URL, Publisher: r.Peer}, f.Provider, away})
		}
	}
	slices.SortFunc(b.feeds, func(x, y publication) int { return x.ref.Compare(y.ref) })
	b.vouched = vouchedFeeds(rows, b.feeds, m.now)
	m.book = b
	return b
}

// maxMatching bounds the answers that a book remembers.
const maxMatching = 1_000

// matches lists the feeds of the catalogue whose provider is the asked one,
// feeds of peers that are away included.
func (m *Machine) matches(provider string) []publication {
	b := m.index()
	if provider == "" {
		return b.feeds
	}
	if found, ok := b.matching[provider]; ok {
		return found
	}
	var found []publication
	for _, f := range b.feeds {
		if f.provider.Matches(provider) {
			found = append(found, f)
		}
	}
	if len(b.matching) >= maxMatching {
		clear(b.matching)
	}
	b.matching[strings.Clone(provider)] = found
	return found
}

// Serves reports whether a feed of the catalogue, be its publisher away or
// not, has that provider; the empty string asks for any feed.
func (m *Machine) Serves(provider string) bool { return len(m.matches(provider)) > 0 }

// vouchAge is how long a vouch counts: a day between looks, and half of one.
const vouchAge = 36 * time.Hour

// vouchedFeeds finds the feeds whose site names the publisher, as seen by two
// of the peers whose turn it is to look, one of them not the publisher.
func vouchedFeeds(rows []*Row, feeds []publication, now time.Time) map[feedring.FeedRef]string {
	type claim struct {
		by feedring.PeerID
		v  Vouch
	}
	by := map[feedring.PeerID][]claim{}
	for _, r := range rows {
		for _, v := range r.Vouches {
			if now.Sub(v.At) < vouchAge && v.At.Sub(now) < vouchAge {
				by[v.Publisher] = append(by[v.Publisher], claim{r.Peer, v})
			}
		}
	}
	vouched := map[feedring.FeedRef]string{}
	if len(by) == 0 {
		return vouched
	}
	circle := layCircle(rows)
	for _, f := range feeds {
		witnesses := map[string][]feedring.PeerID{}
		for _, c := range by[f.ref.Publisher] {
			if siteOf(f.ref.URL, c.v.Site) && (len(c.v.Feeds) == 0 || slices.Contains(c.v.Feeds, f.ref.URL)) &&
				!slices.Contains(witnesses[c.v.Site], c.by) && circle.looks(f.ref, c.by, 2*checkers) {
				witnesses[c.v.Site] = append(witnesses[c.v.Site], c.by)
			}
			if len(witnesses[c.v.Site]) >= 2 { // two differ, so one is not the publisher
				vouched[f.ref] = c.v.Site
				break
			}
		}
	}
	return vouched
}

// siteOf reports whether a site may speak for a feed: its host is the site's,
// or below it.
func siteOf(feedURL, site string) bool {
	u, err := url.Parse(feedURL)
	if err != nil || site == "" {
		return false
	}
	h := strings.ToLower(u.Hostname())
	return h == site || strings.EqualFold(u.Host, site) || strings.Contains(site, ".") && strings.HasSuffix(h, "."+site)
}
