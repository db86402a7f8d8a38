package personal

import (
	"crypto/sha256"
	"hash/fnv"
	"io"
	"net/url"
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

// leastContent is the number of words from which on texts that are the same
// are one text: "sunny" is told every day.
const leastContent = 12

// keysOf are what makes entries of different feeds equal: the canonical link,
// and the folded title and text. 0 is no key.
func keysOf(e *feedring.Entry) (link, content uint64) {
	if canonical := canonicalLink(e.URL); canonical != "" {
		link = hashOf("link", canonical)
	}
	body := *e
	body.Provider = ""
	if text := match.TextOf(&body); strings.Count(string(text), " ") > leastContent {
		content = hashOf("content", string(text))
	}
	return link, content
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

// hashOf is FNV-1a over texts, kept on disk. It is never 0.
func hashOf(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = io.WriteString(h, p+"\x00") // documented never to fail
	}
	return max(1, h.Sum64())
}

// identity is what an entry has in common with its versions and with mirrors of
// its feed, and with nothing else. Its id alone would not do: a publisher may
// sign any, that of another feed's entry too.
type identity [16]byte

func identityOf(feedURL string, id feedring.EntryID) identity {
	sum := sha256.Sum256([]byte("feedring personal entry\x00" + feedURL + "\x00" + string(id)))
	return identity(sum[:16])
}
