package check

import (
	"bytes"
	"encoding/json"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/feedring/feedring/internal/hostkind"
	"github.com/feedring/feedring/internal/safehttp"
)

// jsonLinks reads the members of a JSON Feed that are links.
func (p *page) jsonLinks(rel string) (hrefs []string) {
	var f struct {
		Self string `json:"feed_url"`
		Hubs []struct {
			URL string `json:"url"`
		} `json:"hubs"`
	}
	if json.Unmarshal(bytes.TrimPrefix(p.First.Body, []byte("\xef\xbb\xbf")), &f) != nil {
		return nil
	}
	switch {
	case rel == "self" && f.Self != "":
		hrefs = append(hrefs, f.Self)
	case rel == "hub":
		for _, hub := range f.Hubs {
			hrefs = append(hrefs, hub.URL)
		}
	}
	return hrefs
}

// element is how a link is written in the feed's format.
func (p *page) element(rel, href string) string {
	switch {
	case p.isJSON && rel == "self":
		return `"feed_url": "` + href + `"`
	case p.isJSON:
		return `"hubs": [{"type": "WebSub", "url": "` + href + `"}]`
	case p.feed.FeedType == "rss":
		return `<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="` + rel + `" href="` + href + `"/> in <channel>`
	}
	return `<link rel="` + rel + `" href="` + href + `"/>`
}

func (p *page) self() {
	told := p.told("self")
	here := p.Seen.Location
	isHere := func(href string) bool { return sameAddress(href, here) || sameAddress(href, p.Seen.URL) }
	astray := slices.IndexFunc(told, func(href string) bool { return isOnlyHere(href) && !isHere(href) })
	switch {
	case len(told) == 0:
		p.add("self", Warn, "add "+p.element("self", here)+": who has a copy finds the feed again, and hubs need it", "the feed does not name its own address")
	case astray >= 0:
		p.add("self", Fail, "write "+p.element("self", here)+": whoever follows the one it names finds nothing",
			"the feed names %s as its own address, which nobody else reaches", short(told[astray]))
	case slices.ContainsFunc(told, isHere):
		p.ok("self", "%s", short(told[0]))
	default:
		p.add("self", Warn, "write the address at which readers find it: subscribers at hubs, and some readers, go to the one it names", "the feed names %s as its own address", short(told[0]))
	}
}

// sameAddress leaves out what makes no difference.
func sameAddress(a, b string) bool {
	u, err := url.Parse(strings.TrimSpace(a))
	v, other := url.Parse(strings.TrimSpace(b))
	if err != nil || other != nil {
		return false
	}
	u.Host, v.Host, u.Fragment, v.Fragment = strings.ToLower(u.Host), strings.ToLower(v.Host), "", ""
	return u.String() == v.String()
}

// isOnlyHere reports whether an address means something on this machine or in
// this network alone: loopback and private addresses, and names that no public
// server of names has.
func isOnlyHere(address string) bool {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if safehttp.IsPrivateHost(host) || hostkind.Of(host) != hostkind.Public {
		return true
	}
	if strings.ContainsRune(host, ':') || net.ParseIP(host) != nil {
		return false // a public address
	}
	return !strings.ContainsRune(host, '.') || strings.HasSuffix(host, ".lan")
}

func (p *page) hub() {
	var told []string // header and document often name the same one
	for _, href := range p.told("hub") {
		if !slices.ContainsFunc(told, func(other string) bool { return sameAddress(other, href) }) {
			told = append(told, href)
		}
	}
	if len(told) == 0 {
		p.add("hub", Warn, "name a WebSub hub and ping it when something is new: subscribers get it at once and poll less. "+
			"A feedring peer is one: add "+p.element("hub", "https://PEER/hub")+", or let the peer serve the feed", "none: whoever wants news has to poll")
		return
	}
	if at := slices.IndexFunc(told, isOnlyHere); at >= 0 {
		p.add("hub", Fail, "name one that the web reaches, such as "+p.element("hub", "https://PEER/hub")+
			", or none; a feedring peer names its own by the setting public-url", "%s: nobody else reaches it, so whoever subscribes is never told anything", short(told[at]))
		return
	}
	p.ok("hub", "%s", short(strings.Join(told, " ")))
}
