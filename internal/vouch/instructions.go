package vouch

import (
	"fmt"
	"net/netip"
	"strings"
)

// Instructions tells the owner of site what to publish so that it names the
// peers of d, in each of the three places, ready to be pasted.
func Instructions(d Document, site string) (string, error) {
	document, err := d.Marshal()
	if err != nil {
		return "", err
	}
	host := hostOf(site)
	_, notIP := netip.ParseAddr(host) // an IP address has no names below it
	ways, last := "three", 3
	if notIP == nil {
		ways, last = "two", 2
	}
	var b strings.Builder
	fmt.Fprintf(&b, `%s names its peer in one of %s places; the first is the best.

1. A file at https://%s%s, served without a redirect:

%s`, site, ways, site, wellKnownPath, document)
	if notIP != nil {
		fmt.Fprintf(&b, `
2. A DNS record:

_feedring.%s. 3600 IN TXT %s
`, strings.TrimSuffix(host, "."), quoteTXT(d.txt()))
	}
	if len(d.Peers) > 0 {
		fmt.Fprintf(&b, `
%[2]d. A line in each feed. In RSS, inside <channel>:

<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="feedring" href="feedring:%[1]s"/>

   In Atom, inside <feed>:

<link rel="feedring" href="feedring:%[1]s"/>

   In JSON Feed, beside "title":

"_feedring": {"about": "https://github.com/feedring/feedring", "href": "feedring:%[1]s"}
`, d.Peers[0], last)
	}
	return b.String(), nil
}

// quoteTXT writes a value as the strings of a TXT record, 255 bytes each at
// most; resolvers join them again.
func quoteTXT(value string) string {
	var parts []string
	for len(value) > 255 {
		parts = append(parts, `"`+value[:255]+`"`)
		value = value[255:]
	}
	return strings.Join(append(parts, `"`+value+`"`), " ")
}
