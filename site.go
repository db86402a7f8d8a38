package feedring

import (
	"net/netip"
	"net/url"
	"strings"
)

// Host is where a feed is, with its port and without. The zero Host is that of what
// is no address.
type Host struct{ whole, name string }

// HostOf returns the host of a feed's address.
func HostOf(feedURL string) Host {
	if name, plain := plainHost(feedURL); plain {
		return Host{whole: name, name: name}
	}
	u, err := url.Parse(feedURL)
	if err != nil {
		return Host{}
	}
	return Host{whole: u.Host, name: strings.ToLower(u.Hostname())}
}

// plainHost finds the host of an address in which nothing needs a parser: most.
func plainHost(feedURL string) (name string, plain bool) {
	rest, ok := strings.CutPrefix(feedURL, "https://")
	if !ok {
		if rest, ok = strings.CutPrefix(feedURL, "http://"); !ok {
			return "", false
		}
	}
	name, path, _ := strings.Cut(rest, "/")
	for i := range len(name) {
		if c := name[i]; c != '.' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return "", false
		}
	}
	for i := range len(path) {
		if c := path[i]; c <= ' ' || c >= 0x7f || c == '%' {
			return "", false
		}
	}
	return name, true
}

// Name is the host in lower case, without its port.
func (h Host) Name() string { return h.name }

// Below reports whether the host is a site, or below it.
func (h Host) Below(site string) bool {
	if site == "" || h == (Host{}) {
		return false
	}
	return h.name == site || strings.EqualFold(h.whole, site) ||
		strings.Contains(site, ".") && len(h.name) > len(site) && strings.HasSuffix(h.name, site) && h.name[len(h.name)-len(site)-1] == '.'
}

// OfSite reports whether a site may speak for a feed: the feed's host is the site's,
// or below it.
func OfSite(feedURL, site string) bool { return HostOf(feedURL).Below(site) }

// isPublicAddress reports whether a site is an IP address that anybody may be given
// next: it names nobody for long, so it is no site.
func isPublicAddress(site string) bool {
	addr, err := netip.ParseAddr(strings.Trim(site, "[]"))
	if err != nil {
		port, err := netip.ParseAddrPort(site)
		if err != nil {
			return false
		}
		addr = port.Addr()
	}
	return !addr.IsLoopback() && !addr.IsPrivate() && !addr.IsLinkLocalUnicast()
}

// dots separate labels for people and for resolvers: the full stop, and those that
// IDNA takes for it.
const dots = ".\u3002\uff0e\uff61"

// NameOf returns the name under which a feed is shown. A name with a dot is a claim to
// be that host. It is borne out where the feed's host is that host or below it, or where
// one of sites, which name the publisher as their own, is that host. Otherwise the feed
// is shown under its host, and claims is the name that it was given. A name without a dot
// is a label and claims nothing. Labels of hosts that mix scripts are in Punycode.
func NameOf(feedURL string, given Provider, sites ...string) (name, claims Provider) {
	switch {
	case !strings.ContainsAny(string(given), dots):
		return given, ""
	case bornOut(HostOf(feedURL), strings.ToLower(string(given)), sites):
		return Provider(shownHost(string(given))), ""
	}
	return Provider(shownHost(string(ProviderOf(feedURL)))), given
}

func bornOut(host Host, name string, sites []string) bool {
	if shown := shownHost(host.name); shown != host.name && bornOut(Host{whole: shown, name: shown}, name, nil) {
		return true // it is what NameOf returned
	}
	if _, err := netip.ParseAddr(host.name); host.name == name || err != nil && host.Below(name) {
		return true
	}
	for _, site := range sites {
		if site != "" && strings.TrimPrefix(strings.ToLower(site), "www.") == name {
			return true
		}
	}
	return false
}
