package vouch

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/feedring/feedring/internal/safehttp"
)

// SiteOf returns the site that an address belongs to: its host in lower case,
// with the port where it is not the scheme's own. It is empty for what is no
// http or https address.
func SiteOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	host, port := strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), u.Port()
	switch {
	case host == "":
		return ""
	case port != "" && port != map[string]string{"http": "80", "https": "443"}[u.Scheme]:
		return net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		return "[" + host + "]"
	}
	return host
}

// SitesOf returns the sites that may vouch for a feed, in the order to ask
// them: its host without "www.", its host, then the registrable domain above
// it (lemonde.fr for rss.lemonde.fr, but nothing above user.github.io). An IP
// address of the public internet is no site.
func SitesOf(feedURL string) []string {
	site := SiteOf(feedURL)
	if site == "" {
		return nil
	}
	host := hostOf(site)
	_, err := netip.ParseAddr(host)
	address := err == nil
	if address && !safehttp.IsPrivateHost(host) {
		return nil
	}
	var sites []string
	if rest, ok := strings.CutPrefix(site, "www."); ok && strings.Contains(rest, ".") {
		sites = append(sites, rest)
	}
	sites = append(sites, site)
	if address {
		return sites
	}
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil && !slices.Contains(sites, domain) {
		sites = append(sites, domain)
	}
	return sites
}

// hostOf cuts the port and the brackets off a site.
func hostOf(site string) string {
	if host, _, err := net.SplitHostPort(site); err == nil {
		return host
	}
	return strings.Trim(site, "[]")
}
