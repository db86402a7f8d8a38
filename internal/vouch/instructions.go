package vouch

import (
	"fmt"
	"net/netip"
	"strings"
)

// Instructions tells the owner of site what to publish so that it names the
// peers of d, in each of the places, ready to be pasted. A feed is one of them if
// byFeed is set.
func Instructions(d Document, site string, byFeed bool) (string, error) {
	document, err := d.Marshal()
	if err != nil {
		return "", err
	}
	host := hostOf(site)
	_, notIP := netip.ParseAddr(host) // an IP address has no names below it
	places := []string{fmt.Sprintf(`A file at %s, served without a redirect:

%s`, documentAt(site), document)}
	if notIP != nil {
		places = append(places, fmt.Sprintf(`A DNS record:

_feedring.%s. 3600 IN TXT %s
`, strings.TrimSuffix(host, "."), quoteTXT(d.txt())))
	}
	if byFeed && len(d.Peers) > 0 {
		places = append(places, fmt.Sprintf(`A line in each feed. In RSS, inside <channel>:

<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="feedring" href="feedring:%[1]s"/>

   In Atom, inside <feed>:

<link rel="feedring" href="feedring:%[1]s"/>

   In JSON Feed, beside "title":

"_feedring": {"about": "https://github.com/feedring/feedring", "href": "feedring:%[1]s"}
`, d.Peers[0]))
	}
	if len(places) == 1 {
		return site + " names its peer in one place.\n\n" + places[0], nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s names its peer in one of %s places; the first is the best.\n", site, [...]string{2: "two", 3: "three"}[len(places)])
	for i, place := range places {
		fmt.Fprintf(&b, "\n%d. %s", i+1, place)
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
