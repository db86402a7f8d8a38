package admin

import (
	"strings"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/vouch"
)

// TestInstructionsOfTwoSites: each site is told what it publishes, and nothing of
// the other's feeds.
func TestInstructionsOfTwoSites(t *testing.T) {
	const a, b = "https://a.example/feed", "https://b.example/feed"
	doc := vouch.Document{Network: "test", Peers: []feedring.PeerID{"12D3KooWBmAwcd4PJNJvfV89HwE48nwkRmAgo8Vy3uQEyNNHBox2"}, Feeds: []string{a, b}}
	text, err := instructions(doc, []string{"a.example", "b.example"}, true)
	if err != nil {
		t.Fatal(err)
	}
	first, second, found := strings.Cut(text, "\nb.example names its peer in one of three places")
	if !found || !strings.Contains(first, "https://a.example/.well-known/feedring") || !strings.Contains(second, "https://b.example/.well-known/feedring") {
		t.Fatal(text)
	}
	if !strings.Contains(first, a) || strings.Contains(first, b) || !strings.Contains(second, b) || strings.Contains(second, a) {
		t.Errorf("feeds of the other site are told:\n%s", text)
	}
}

// A peer without feeds of a site is told that the site in its instructions stands
// for its own.
func TestInstructionsWithoutASite(t *testing.T) {
	doc := vouch.Document{Network: "test", Peers: []feedring.PeerID{"12D3KooWBmAwcd4PJNJvfV89HwE48nwkRmAgo8Vy3uQEyNNHBox2"}}
	if text, err := instructions(doc, nil, true); err != nil || !strings.HasPrefix(text, "This peer publishes no feed of a site yet: example.org stands for your site.\n\nexample.org names") {
		t.Errorf("%v\n%s", err, text)
	}
}
