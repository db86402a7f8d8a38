package duplicate

import (
	"hash/fnv"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

// leastContent is the number of words from which on texts that are the same
// are one text: "sunny" is told every day.
const leastContent = 12

// Keys are what entries are compared by. Link and Content are kept on disk.
type Keys struct {
	Feed    uint64 // of the feed's address and its publisher
	Entry   uint64 // of the feed's address and the id
	Link    uint64 // of the page that the entry links to; 0: none
	Content uint64 // of the folded title and text; 0: too short to tell
	Claim   Claim
}

// KeysOf returns the keys of an entry. site stands behind the entry's feed: it
// names the feed's publisher, or this peer reads the feed from it; empty: none.
func KeysOf(e *feedring.Entry, site string) Keys {
	k := Keys{Feed: Hash("feed", e.Feed, string(e.Publisher)), Entry: Hash("entry", e.Feed, string(e.ID)), Claim: claimOf(e, site)}
	if canonical := canonicalLink(e.URL); canonical != "" {
		k.Link = Hash("link", canonical)
	}
	body := *e
	body.Provider = ""
	if text := match.TextOf(&body); strings.Count(string(text), " ") > leastContent {
		k.Content = Hash("content", string(text))
	}
	return k
}

// Hides reports whether a list that shows a needs no b, which came later: they
// are of different feeds and tell the same, and a's claim to its page is no worse.
func (a Keys) Hides(b Keys) bool { return a.tells(b) && a.Claim >= b.Claim }

// Replaces reports whether b, which came later, takes the place of a.
func (b Keys) Replaces(a Keys) bool { return a.tells(b) && a.Claim < b.Claim }

// tells reports whether a is b's story in another feed. Which of two copies of one entry
// is shown is not for their texts to say: see feedring.Supersedes.
func (a Keys) tells(b Keys) bool {
	return a.Feed != b.Feed && a.Entry != b.Entry && (a.Content != 0 && a.Content == b.Content || a.Link != 0 && a.Link == b.Link)
}

// String is the keys for a page's script: feed, link, content, claim and entry.
func (k Keys) String() string {
	hex := func(n uint64) string { return strconv.FormatUint(n, 16) }
	return hex(k.Feed) + "." + hex(k.Link) + "." + hex(k.Content) + "." + strconv.Itoa(int(k.Claim)) + "." + hex(k.Entry)
}

// canonicalLink is an entry's address without what differs from feed to feed
// that links it. It is empty for a site's front page, which many entries link.
func canonicalLink(s string) string {
	u := webAddress(s)
	if u == nil {
		return ""
	}
	host := strings.TrimPrefix(strings.ToLower(u.Host), "www.")
	host = strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80")
	path, query := strings.TrimSuffix(u.EscapedPath(), "/"), u.Query()
	for name := range query {
		if tracks(strings.ToLower(name)) {
			delete(query, name)
		}
	}
	if path == "" && len(query) == 0 {
		return ""
	}
	return host + path + "?" + query.Encode()
}

// webAddress reads an address of the web; nil for any other.
func webAddress(s string) *url.URL {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil
	}
	return u
}

// tracks names the parameters that say how a reader came, not to what.
func tracks(name string) bool {
	switch name {
	case "fbclid", "gclid", "dclid", "msclkid", "mc_cid", "mc_eid", "xtor", "ref", "cmpid", "at_medium", "at_campaign":
		return true
	}
	return strings.HasPrefix(name, "utm_")
}

// Hash is FNV-1a over texts, kept on disk. It is never 0.
func Hash(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = io.WriteString(h, p+"\x00") // documented never to fail
	}
	return max(1, h.Sum64())
}
