package node

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/web"
)

// TestFindFeedsAsksOnce: an address that a list names twice is asked for once, what
// another peer of the group publishes not at all, and nothing once the time is over.
func TestFindFeedsAsksOnce(t *testing.T) {
	cfg := peerConfig(t, "own.example")
	cfg.AllowPrivateFeeds = true
	n := startPeer(t, cfg)
	site := newPages(t, map[string]string{"/f": aFeed, "/theirs": aFeed})
	theirs := feedring.FeedSpec{URL: site.URL + "/theirs", Theme: testTheme, Provider: "b.example"}
	other := peerConfig(t, "b.example", n)
	other.AllowPrivateFeeds, other.Feeds = true, []feedring.FeedSpec{theirs}
	formed(t, n, startPeer(t, other))
	asked := func() []string { // but for what both ask about the site of a feed in the group
		return slices.DeleteFunc(site.requests(), func(path string) bool { return path == "/.well-known/feedring" })
	}
	eventually(t, "the other's feed in the group", func() bool { return offersToo(n, theirs) && len(asked()) == 1 })

	feed := feedring.FeedSpec{URL: site.URL + "/f", Provider: "p.example"}
	missing := feedring.FeedSpec{URL: site.URL + "/missing", Provider: "p.example"}
	said := n.FindFeeds(t.Context(), []feedring.FeedSpec{feed, missing, theirs, feed})
	var not *web.NotFeedError
	if said[0].Err != nil || said[0].URL != feed.URL || said[3].Found != said[0].Found || !errors.As(said[1].Err, &not) || said[2].Err != nil || said[2].Unasked {
		t.Errorf("%+v", said)
	}
	if got := asked(); !slices.Equal(got, []string{"/theirs", "/f", "/missing"}) {
		t.Errorf("asked for %q", got)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if said := n.FindFeeds(over, []feedring.FeedSpec{missing}); said[0].Err != nil || !said[0].Unasked || len(asked()) != 3 {
		t.Errorf("without time: %+v, %q", said, asked())
	}
}

// offersToo reports whether another peer of the group offers a feed.
func offersToo(n *Node, spec feedring.FeedSpec) bool {
	view, in := n.loop.View().Memberships[spec.Theme]
	if !in {
		return false
	}
	for _, m := range view.Members {
		for _, f := range m.Row.Feeds {
			if m.Row.Peer != n.ID() && f.URL == spec.URL {
				return true
			}
		}
	}
	return false
}
