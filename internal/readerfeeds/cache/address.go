package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path"
	"strings"

	"github.com/feedring/feedring"
)

// Path is below what the documents are served.
const Path = "/f/"

// plainPath is the address of a feed below a peer's own: the path and query
// that it has at its origin, below its provider's name. So a proxy in front of a
// site passes a whole tree of feeds on by one rule.
func plainPath(provider feedring.Provider, feed string) string {
	u, err := url.Parse(feed)
	if err != nil {
		return ""
	}
	at := Path + url.PathEscape(string(provider)) + cleanPath(u.EscapedPath())
	if u.RawQuery != "" {
		at += "?" + u.RawQuery
	}
	return at
}

// cleanPath is p as a router hands it on: no doubled slashes, no dots.
func cleanPath(p string) string {
	clean := path.Clean("/" + p)
	if strings.HasSuffix(p, "/") && clean != "/" {
		clean += "/"
	}
	return clean
}

// ownPath is the address of a feed whose plain one another feed has.
func ownPath(provider feedring.Provider, feed string) string {
	sum := sha256.Sum256([]byte(feed))
	plain, query, has := strings.Cut(plainPath(provider, feed), "?")
	plain = strings.TrimSuffix(plain, "/") + "~" + hex.EncodeToString(sum[:4])
	if has {
		plain += "?" + query
	}
	return plain
}
