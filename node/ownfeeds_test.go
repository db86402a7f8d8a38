package node

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/feedring/feedring"
)

// polledAs polls as any reader does.
func polledAs(t testing.TB, url, agent, had string) (int, http.Header, string) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	check(t, err)
	req.Header.Set("User-Agent", agent)
	if had != "" {
		req.Header.Set("If-None-Match", had)
	}
	resp, err := http.DefaultClient.Do(req)
	check(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	check(t, err)
	return resp.StatusCode, resp.Header, string(body)
}

// TestOwnFeedsAreServedToPollers: the origin notices one reader, however many
// there are; who is away, or was restarted, is not waited for; private feeds
// are served to nobody.
func TestOwnFeedsAreServedToPollers(t *testing.T) {
	origin := newSite(t)
	cfg := peerConfig(t, "b.example")
	cfg.AllowPrivateFeeds, cfg.HTTP = true, "127.0.0.1:0"
	cfg.Feeds = []feedring.FeedSpec{{URL: origin.URL + "/feed.xml", Theme: testTheme, Provider: "a.example"}}
	n := startPeer(t, cfg)
	secret := feedring.FeedSpec{URL: origin.URL + "/secret.xml", Provider: "a.example"}
	err := n.AddFeeds(t.Context(), []feedring.FeedSpec{secret}, nil)[0].Err
	check(t, err)
	_, err = n.Ping(t.Context(), secret.URL)
	check(t, err)
	_, err = n.Ping(t.Context(), cfg.Feeds[0].URL)
	check(t, err)

	st, err := n.Feed(cfg.Feeds[0].URL)
	check(t, err)
	if st.Front != n.front.Address()+"/f/a.example/feed.xml" {
		t.Fatalf("the feed is at %q", st.Front)
	}
	code, header, body := polledAs(t, st.Front, "one", "")
	if code != 200 || !strings.Contains(body, `rel="self"`) || header.Get("Etag") == "" || !strings.HasPrefix(header.Get("Cache-Control"), "public, max-age=3") {
		t.Fatalf("%d %v %s", code, header, body)
	}
	if code, _, _ := polledAs(t, n.front.Address()+"/f/a.example/secret.xml", "one", ""); code != 404 {
		t.Errorf("a private feed: %d", code)
	}
	before := origin.Asked.Load()
	pollAll(t, st.Front, header.Get("Etag"))
	if asked := origin.Asked.Load(); asked != before {
		t.Errorf("10,000 pollers: the origin was asked %d times", asked-before)
	}
	if st, _ = n.Feed(st.URL); st.Readers < 450 || st.Readers > 550 {
		t.Errorf("%d readers of 500", st.Readers)
	}
	_, err = n.Ping(t.Context(), st.URL)
	check(t, err)
	if agent := origin.Agent.Load().(string); !strings.HasSuffix(agent, fmt.Sprintf("; %d subscribers)", st.Readers+1)) {
		t.Errorf("the origin is told %s", agent)
	}
	origin.Away.Store(true)
	if _, err = n.Ping(t.Context(), st.URL); err == nil {
		t.Error("the origin is not away")
	}
	if code, _, again := polledAs(t, st.Front, "one", ""); code != 200 || again != body {
		t.Errorf("while the origin is away: %d", code)
	}

	kill(n)
	n = startPeer(t, cfg)
	if code, later, again := polledAs(t, n.front.Address()+"/f/a.example/feed.xml", "one", ""); code != 200 || !strings.Contains(again, "<title>") ||
		later.Get("Last-Modified") != header.Get("Last-Modified") {
		t.Errorf("after a restart without the origin: %d %v", code, later)
	}
}

// pollAll is 10,000 requests of 500 programs that have the document.
func pollAll(t testing.TB, url, tag string) {
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			for j := range 500 {
				if code, _, _ := polledAs(t, url, fmt.Sprintf("%d/%d", i, j%25), tag); code != 304 {
					t.Errorf("%d", code)
				}
			}
		})
	}
	all.Wait()
}
