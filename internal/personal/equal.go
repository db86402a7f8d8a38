package personal

import (
	"encoding/hex"
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
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
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

// idBytes reads an entry's id. One of another form, which no publisher makes,
// gets a place of its own.
func idBytes(id feedring.EntryID) (b [16]byte) {
	if len(id) == 32 {
		if _, err := hex.Decode(b[:], []byte(id)); err == nil {
			return b
		}
	}
	h := hashOf("id", string(id))
	for i := range b {
		b[i] = byte(h >> (8 * (i % 8)))
	}
	return b
}

func entryID(b [16]byte) feedring.EntryID { return feedring.EntryID(hex.EncodeToString(b[:])) }
