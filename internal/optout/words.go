// Package optout keeps what sites and feeds say against being mirrored, and says
// which feeds that is about, when to look again, and when what is held of them is
// to be erased. It asks nobody and keeps nothing on disk.
package optout

import (
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// Times of an opt-out. It is seen within a day, since each site is looked at and
// each feed is fetched daily; so all that is held is gone within two.
const (
	// EraseAfter leaves time to take a slip back.
	EraseAfter = 12 * time.Hour
	// EraseLatest is when entries go of which it is not certain that they are a
	// mirror's: their site could not be asked since.
	EraseLatest = 24 * time.Hour

	firstLook   = 24 * time.Hour
	longestLook = 7 * 24 * time.Hour
	forgetAfter = 30 * 24 * time.Hour // of what nobody mirrors any more
)

// Limits of Words. The oldest go first.
const (
	MaxWords = 4096
	maxBytes = 4 << 20
)

// Word is what a site's document or a feed says against mirrors.
type Word struct {
	// Of is the site; or the feed's address, without the scheme behind "//".
	Of    string            `json:"of"`
	Feeds []string          `json:"feeds,omitempty"` // of a site: those that it means; none: all of its own
	Peers []feedring.PeerID `json:"peers,omitempty"` // that the site names as its own
	Since time.Time         `json:"since"`           // it has said so since, as far as was seen
	Seen  time.Time         `json:"seen"`            // when it was seen last
	Looks int               `json:"looks,omitempty"` // that found it, beside the first
	Next  time.Time         `json:"next"`            // when to look again
}

// IsFeed reports whether a feed says it itself.
func (w *Word) IsFeed() bool { return strings.HasPrefix(w.Of, "//") }

// Names reports whether the site names a peer as its own, which no word binds.
func (w *Word) Names(p feedring.PeerID) bool { return slices.Contains(w.Peers, p) }

// Erases reports whether what mirrors published is to be erased now. certain: the
// site was asked since, and does not name the publisher.
func (w *Word) Erases(now time.Time, certain bool) bool {
	if certain {
		return !now.Before(w.Since.Add(EraseAfter))
	}
	return !now.Before(w.Since.Add(EraseLatest))
}

func (w *Word) size() int {
	n := 200 + len(w.Of)
	for _, f := range w.Feeds {
		n += 16 + len(f)
	}
	for _, p := range w.Peers {
		n += 16 + len(p)
	}
	return n
}

// Words are those that hold. The zero Words has none.
type Words struct {
	all   map[string]*Word
	bytes int
}

// FeedKey is what Word.Of is for a feed.
func FeedKey(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		return "//" + rest
	}
	return "//" + url
}

// Len is how many there are.
func (ws *Words) Len() int { return len(ws.all) }

// Of returns the word of a site or feed.
func (ws *Words) Of(of string) (Word, bool) {
	if w := ws.all[of]; w != nil {
		return *w, true
	}
	return Word{}, false
}

// Load takes back what was kept.
func (ws *Words) Load(w Word) { ws.put(&w) }

// Refuse takes in that a site or feed was seen to refuse mirrors. It returns the word
// as it is now, and whether it means others than before.
func (ws *Words) Refuse(of string, feeds []string, peers []feedring.PeerID, now time.Time) (w Word, changed bool) {
	old := ws.all[of]
	next := &Word{Of: of, Feeds: slices.Clone(feeds), Peers: slices.Clone(peers), Since: now, Seen: now, Next: now.Add(firstLook)}
	if old != nil {
		next.Since, next.Looks = old.Since, old.Looks+1
		next.Next = now.Add(min(firstLook<<min(next.Looks, 10), longestLook))
	}
	changed = old == nil || !slices.Equal(old.Feeds, next.Feeds) || !slices.Equal(old.Peers, next.Peers)
	if changed && old != nil {
		next.Looks, next.Next = 0, now.Add(firstLook)
	}
	ws.put(next)
	return *next, changed
}

// Withdraw takes in that a site or feed was seen to refuse nothing, and reports
// whether it did before.
func (ws *Words) Withdraw(of string) bool {
	w := ws.all[of]
	if w == nil {
		return false
	}
	ws.bytes -= w.size()
	delete(ws.all, of)
	return true
}

// put takes a word in and drops the oldest beyond the limits.
func (ws *Words) put(w *Word) {
	ws.Withdraw(w.Of)
	if ws.all == nil {
		ws.all = make(map[string]*Word)
	}
	ws.all[w.Of] = w
	ws.bytes += w.size()
	for len(ws.all) > 1 && (len(ws.all) > MaxWords || ws.bytes > maxBytes) {
		oldest := w
		for _, other := range ws.all {
			if oldest == w || other != w && other.before(oldest) {
				oldest = other
			}
		}
		ws.Withdraw(oldest.Of)
	}
}

// before orders words by when they were seen.
func (w *Word) before(other *Word) bool {
	if w.Seen.Equal(other.Seen) {
		return w.Of < other.Of
	}
	return w.Seen.Before(other.Seen)
}

// Against returns the word against mirrors of a feed: its own, or that of one of
// the sites that may speak for it.
func (ws *Words) Against(url string, sites []string) (Word, bool) {
	if w := ws.all[FeedKey(url)]; w != nil {
		return *w, true
	}
	for _, site := range sites {
		if w := ws.all[site]; w != nil && (len(w.Feeds) == 0 || slices.Contains(w.Feeds, url)) {
			return *w, true
		}
	}
	return Word{}, false
}

// Speaks reports whether a word may be about a feed, from its address alone: enough
// to pass over most.
func (ws *Words) Speaks(url string) bool {
	key := FeedKey(url)
	if ws.all[key] != nil {
		return true
	}
	site := key[len("//"):]
	if end := strings.IndexAny(site, "/?#"); end >= 0 {
		site = site[:end]
	}
	host, _, _ := strings.Cut(site, ":")
	return ws.speaksFor(site) || ws.speaksFor(host)
}

// speaksFor reports whether there is a word of a host or one above it.
func (ws *Words) speaksFor(host string) bool {
	for more := true; more; _, host, more = strings.Cut(host, ".") {
		if ws.all[host] != nil {
			return true
		}
	}
	return false
}

// Due lists the words to look for again, in order.
func (ws *Words) Due(now time.Time) (due []Word) {
	var of []string // sorting these has code already, sorting words would add 30 kB
	for what, w := range ws.all {
		if !w.Next.After(now) {
			of = append(of, what)
		}
	}
	slices.Sort(of)
	for _, what := range of {
		due = append(due, *ws.all[what])
	}
	return due
}

// Postpone takes in that a look found nothing out, or was not worth it. It returns the
// word as it is then; false: it is forgotten, because nobody mirrors what it is about.
func (ws *Words) Postpone(of string, mirrored bool, now time.Time) (Word, bool) {
	w := ws.all[of]
	if w == nil {
		return Word{}, false
	}
	if !mirrored && now.Sub(w.Seen) > forgetAfter {
		ws.Withdraw(of)
		return Word{}, false
	}
	next := *w
	next.Next = now.Add(min(firstLook<<min(w.Looks, 10), longestLook))
	ws.put(&next)
	return next, true
}
