package vouch

import (
	"slices"
	"strings"

	"github.com/feedring/feedring"
)

// Offer reads what a feed says of the peer that publishes it; link is the href of
// its rel="feedring", as of CheckFeed. It returns the site whose document tells
// where to join, or the peer itself; neither for a link that is not the feed's to
// give. Nobody is asked, so the site may say otherwise.
func Offer(feedURL, link string) (site string, peer feedring.PeerID) {
	link = strings.TrimSpace(link)
	if id, ok := strings.CutPrefix(link, "feedring:"); ok {
		if isPeerID(id) {
			peer = feedring.PeerID(id)
		}
		return "", peer
	}
	u, err := resolve(feedURL, link)
	if link == "" || err != nil {
		return "", ""
	}
	if site = SiteOf(u.String()); !slices.Contains(SitesOf(feedURL), site) {
		return "", ""
	}
	return site, ""
}
