package node

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedring/feedring"
)

// fronted says whether a feed is at path, and holds all that tells of it
// against that: its listing, the hub's word for each of its addresses, and what
// is kept on disk, of this one feed.
func fronted(t *testing.T, n *Node, feed, path string) bool {
	t.Helper()
	st, err := n.Feed(feed)
	check(t, err)
	here := n.front.Address() + path
	code, _, _ := polledAs(t, here, "one", "")
	files, err := os.ReadDir(filepath.Join(n.cfg.Data, "front"))
	check(t, err)
	served := code == http.StatusOK
	if !served && code != http.StatusNotFound || served != (st.Front == here) || !served && st.Front != "" || served != (len(files) == 1) {
		t.Errorf("%s: %d, listed at %q, %d files", feed, code, st.Front, len(files))
	}
	for _, topic := range []string{feed, here} {
		_, found := n.websub.Topics().Find(topic)
		_, version := n.websub.Topics().Version(topic)
		content, err := n.websub.Topics().Read(t.Context(), topic)
		if found != served || version != served || (err == nil) != served || served && !strings.Contains(string(content.Body), "<title>") {
			t.Errorf("topic %s: %v %v %v", topic, found, version, err)
		}
	}
	return served
}

// TestADocumentOfAFeedSharedInPartStays: what is cut from entries would leave
// the peer with the document.
func TestADocumentOfAFeedSharedInPartStays(t *testing.T) {
	origin := newSite(t)
	cfg := peerConfig(t, "b.example")
	cfg.AllowPrivateFeeds, cfg.HTTP, cfg.Share = true, "127.0.0.1:0", feedring.ShareFull
	n := startPeer(t, cfg)
	add := func(share feedring.Share) string {
		spec := feedring.FeedSpec{URL: origin.URL + "/feed.xml", Theme: testTheme, Provider: "a.example", Share: share}
		check(t, n.AddFeeds(t.Context(), []feedring.FeedSpec{spec}, nil)[0].Err)
		_, err := n.Ping(t.Context(), spec.URL)
		check(t, err)
		return spec.URL
	}
	const path = "/f/a.example/feed.xml"
	for _, share := range []feedring.Share{feedring.ShareSummary, feedring.ShareFull, feedring.ShareTitle, ""} {
		feed := add(share)
		if got := fronted(t, n, feed, path); got == share.Cuts() {
			t.Errorf("share %q: served: %v", share, got)
		}
		if share != "" {
			check(t, n.RemoveFeed(t.Context(), feed))
		}
	}
	for _, share := range []feedring.Share{feedring.ShareTitle, feedring.ShareFull} {
		kill(n)
		cfg.Share = share
		n = startPeer(t, cfg)
		feed := add("")
		if got := fronted(t, n, feed, path); got == share.Cuts() {
			t.Errorf("serve --share %s: served: %v", share, got)
		}
		check(t, n.RemoveFeed(t.Context(), feed))
		check(t, n.AddFeeds(t.Context(), []feedring.FeedSpec{{URL: feed, Theme: testTheme, Provider: "a.example"}}, nil)[0].Err)
	}
}
