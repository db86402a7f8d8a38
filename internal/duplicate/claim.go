package duplicate

import (
	"strings"

	"github.com/feedring/feedring"
)

// Claim is how well an entry's publisher may speak for the page that the entry
// links to. Of entries with one link the best claim is shown, whichever came
// first: else whoever links a page before its own site does would keep the
// site's entry from readers.
type Claim uint8

const (
	foreign Claim = iota // the page is of another site
	named                // the entry's provider is called like the page's site, which nobody checked
	vouched              // that site names the publisher, or this peer read the site's feed itself
)

// claimOf judges an entry. site is who stands behind its feed; empty: nobody.
func claimOf(e *feedring.Entry, site string) Claim {
	switch page := webAddress(e.URL); {
	case page == nil:
		return foreign
	case isOf(page.Host, site):
		return vouched
	case isOf(page.Host, string(e.Provider)):
		return named
	}
	return foreign
}

// isOf reports whether a host is a site's: the same, or below it. A site without
// a port is that at all of them.
func isOf(host, site string) bool {
	host, site = strings.ToLower(host), strings.ToLower(site)
	if !strings.Contains(site, ":") {
		host, _, _ = strings.Cut(host, ":")
	}
	return site != "" && (host == site || strings.HasSuffix(host, "."+site))
}
