package node

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/web"
)

// TestAFeedThatIsMovedMoreThanOnce is known by each address that it had, over
// restarts, and is one that is read from a file so that nobody is asked.
func TestAFeedThatIsMovedMoreThanOnce(t *testing.T) {
	const first, second, third = "https://a.example/feed.xml", "https://b.example/rss", "https://c.example/atom"
	file := filepath.Join(t.TempDir(), "feed.xml")
	check(t, os.WriteFile(file, []byte(`<rss version="2.0"><channel><title>A</title><item><guid>1</guid><title>One</title></item></channel></rss>`), 0o600))
	cfg := peerConfig(t, "b.example")
	cfg.HTTP = "127.0.0.1:0"
	spec := feedring.FeedSpec{URL: first, Theme: testTheme, Provider: "a.example", File: file}
	cfg.Feeds = []feedring.FeedSpec{spec}
	n := startPeer(t, cfg)
	move := func(from, to, now string) {
		t.Helper()
		st, _, err := n.MoveFeed(t.Context(), from, to, false)
		if err != nil || st.URL != first || st.Fetched != now {
			t.Fatalf("%+v, %v", st, err)
		}
	}
	for to, says := range map[string]string{"http://127.0.0.1/feed": "--allow-private-feeds", "http://localhost/": "private address"} {
		if _, _, err := n.MoveFeed(t.Context(), first, to, false); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("to %s: %v", to, err)
		}
	}
	if _, _, err := n.MoveFeed(t.Context(), "https://x.example/", second, false); !errors.Is(err, web.ErrUnknown) {
		t.Errorf("what is not there: %v", err)
	}
	move(first, second, second)
	move(second, third, third)
	move(first, third, third)
	if said := n.AddFeeds(t.Context(), []feedring.FeedSpec{{URL: third, Theme: testTheme, Provider: "c.example"}}, nil); !said[0].Known {
		t.Errorf("added at its present address: %+v", said[0])
	}
	for _, named := range []string{first, second, third} {
		kill(n)
		spec.URL, spec.Provider = named, feedring.ProviderOf(named)
		cfg.Feeds = []feedring.FeedSpec{spec}
		n = startPeer(t, cfg)
		if feeds := n.Feeds(true); len(feeds) != 1 || feeds[0].URL != first || feeds[0].Fetched != third || feeds[0].Provider != "a.example" {
			t.Fatalf("named %s: %+v", named, feeds)
		}
	}
	if st, err := n.Feed(third); err != nil || !strings.HasSuffix(st.Front, "/f/a.example/feed.xml") {
		t.Errorf("%+v, %v", st, err)
	}
	move(third, first, first)
	kill(n)
	n = startPeer(t, cfg)
	if feeds := n.Feeds(true); len(feeds) != 1 || feeds[0].URL != first || feeds[0].Fetched != first {
		t.Errorf("moved back: %+v", feeds)
	}
}
