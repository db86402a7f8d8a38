package feedring_test

import (
	"testing"

	"github.com/feedring/feedring"
)

func TestOfSite(t *testing.T) {
	for _, tc := range []struct {
		feed, site string
		ok         bool
	}{
		{"https://www.a.org/rss", "a.org", true}, {"https://a.org/rss", "a.org", true}, {"https://A.org/rss", "a.org", true},
		{"https://nota.org/rss", "a.org", false}, {"https://a.org/rss", "org", false}, {"https://a.org/rss", "", false},
		{"http://localhost:80/rss", "localhost:80", true}, {"://", "a.org", false},
	} {
		if feedring.OfSite(tc.feed, tc.site) != tc.ok {
			t.Errorf("%q speaks for %s: %v", tc.site, tc.feed, !tc.ok)
		}
	}
}

// A name with a dot is shown only where the feed's host or a site bears it out.
func TestNameOf(t *testing.T) {
	for _, tc := range []struct {
		feed         string
		given        feedring.Provider
		sites        []string
		name, claims feedring.Provider
	}{
		{"https://rss.lemonde.fr/une", "lemonde.fr", nil, "lemonde.fr", ""},
		{"https://rss.lemonde.fr/une", "LeMonde.fr", nil, "LeMonde.fr", ""},
		{"https://lemonde.fr/une", "lemonde", nil, "lemonde", ""},
		{"https://blog.example.net/une", "lemonde", nil, "lemonde", ""},
		{"https://blog.example.net/une", "lemonde.fr", nil, "blog.example.net", "lemonde.fr"},
		{"https://www.example.net/une", "LEMONDE.FR", nil, "example.net", "LEMONDE.FR"},
		{"https://blog.example.net/une", "lemonde。fr", nil, "blog.example.net", "lemonde。fr"},
		{"https://notlemonde.fr/une", "lemonde.fr", nil, "notlemonde.fr", "lemonde.fr"},
		{"https://lemonde.fr.example.net/", "lemonde.fr", nil, "lemonde.fr.example.net", "lemonde.fr"},
		{"https://blog.example.net/une", "lemonde.fr", []string{"other.org", "www.lemonde.fr"}, "lemonde.fr", ""},
		{"https://blog.example.net/une", "www.lemonde.fr", []string{"lemonde.fr"}, "blog.example.net", "www.lemonde.fr"},
		{"http://127.0.0.1:8080/une", "127.0.0.1", nil, "127.0.0.1", ""},
		{"http://127.0.0.1:8080/une", "0.0.1", nil, "127.0.0.1", "0.0.1"},
		{"http://127.0.0.1:8080/une", "lemonde.fr", []string{""}, "127.0.0.1", "lemonde.fr"},
	} {
		if name, claims := feedring.NameOf(tc.feed, tc.given, tc.sites...); name != tc.name || claims != tc.claims {
			t.Errorf("%s of %s, which %q vouch for: %q and %q, want %q and %q", tc.given, tc.feed, tc.sites, name, claims, tc.name, tc.claims)
		}
	}
}
