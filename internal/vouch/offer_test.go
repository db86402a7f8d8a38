package vouch

import (
	"testing"

	"github.com/feedring/feedring"
)

func TestOffer(t *testing.T) {
	const feed, id = "https://www.site.example/feed.xml", "12D3KooWGRUVh9oaJYM3wkWgxPWjYhuTVQwGPdbdH3JFLxuZVZG9"
	for link, want := range map[string]struct {
		site string
		peer feedring.PeerID
	}{
		"https://site.example/.well-known/feedring":     {"site.example", ""},
		"https://www.site.example/.well-known/feedring": {"www.site.example", ""},
		"/.well-known/feedring":                         {"www.site.example", ""},
		" /peer.json\n":                                 {"www.site.example", ""},
		"feedring:" + id:                                {"", id},
		"feedring:me":                                   {},
		"https://evil.example/.well-known/feedring":     {},
		"https://site.example.evil.example/":            {},
		"https://site.example:8443/":                    {},
		"javascript:alert(1)":                           {},
		"file:///etc/passwd":                            {},
		"http://%zz/":                                   {},
		"":                                              {},
	} {
		if site, peer := Offer(feed, link); site != want.site || peer != want.peer {
			t.Errorf("%q: %q, %q; want %+v", link, site, peer, want)
		}
	}
}
