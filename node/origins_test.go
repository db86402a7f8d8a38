package node

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
)

// TestFeedRemovedAndAddedAgain: the log goes on where it stopped, at whatever
// moment that happens, and nothing of a removed private feed is shown.
func TestFeedRemovedAndAddedAgain(t *testing.T) {
	var mu sync.Mutex
	body := feedOfEntries("a", "b")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	change := func(to string) { mu.Lock(); body = to; mu.Unlock() }
	cfg := peerConfig(t, "a.example")
	cfg.AllowPrivateFeeds = true
	n := startPeer(t, cfg)
	held := func(url string) []store.Item {
		return log(t, n.store, feedring.FeedRef{URL: url, Publisher: n.ID()})
	}
	for _, theme := range []feedring.Theme{"sport", testTheme, ""} { // a group that is left for it, one that is not, none
		spec := feedring.FeedSpec{URL: server.URL + "/" + string(theme), Theme: theme, Provider: "b.example"}
		change(feedOfEntries("a", "b"))
		for round, want := range []int{2, 3, 4} {
			check(t, addFeed(t, n, spec))
			eventually(t, "a role", n.Ready)
			st, err := n.Ping(t.Context(), spec.URL)
			if err != nil || st.Error != "" || st.Entries != want {
				t.Fatalf("%q, round %d: %d entries, %s, %v", theme, round, st.Entries, st.Error, err)
			}
			check(t, n.RemoveFeed(t.Context(), spec.URL))
			change(feedOfEntries([]string{"b", "c", "d"}[:2+round%2]...))
		}
		chained(t, held(spec.URL))
		if items := held(spec.URL); items[len(items)-1].Position.Sequence != 4 {
			t.Errorf("%q: ends at %v", theme, items[len(items)-1].Position)
		}
	}
	shown, err := n.Held(t.Context(), web.Ask{Private: true})
	shown = slices.DeleteFunc(shown, func(e feedring.Entry) bool { return e.Theme != "" })
	if err != nil || len(shown) != 0 {
		t.Errorf("of a removed private feed %d entries are shown, %v", len(shown), err)
	}
}

// TestPersonalFeedsOfAFeedAddedAgain: they show a private feed that comes back,
// though no fetch finds anything new in it.
func TestPersonalFeedsOfAFeedAddedAgain(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, feedOfEntries("a", "b")) }))
	defer server.Close()
	cfg := peerConfig(t, "a.example")
	cfg.AllowPrivateFeeds = true
	n := startPeer(t, cfg)
	spec := feedring.FeedSpec{URL: server.URL, Provider: "b.example"}
	add := func() {
		check(t, addFeed(t, n, spec))
		_, err := n.Ping(t.Context(), spec.URL)
		check(t, err)
	}
	add()
	sub, err := n.personal.Subscribe(t.Context(), "", feedring.Query{}, false)
	check(t, err)
	shows := func(want int) func() bool {
		return func() bool {
			f, err := n.personal.Feed(t.Context(), sub.Secret)
			return err == nil && len(f.Entries) == want
		}
	}
	eventually(t, "two entries", shows(2))
	check(t, n.RemoveFeed(t.Context(), spec.URL))
	eventually(t, "none", shows(0))
	add()
	eventually(t, "two entries again", shows(2))
}

func addFeed(t *testing.T, n *Node, spec feedring.FeedSpec) error {
	t.Helper()
	return n.AddFeeds(t.Context(), []feedring.FeedSpec{spec}, nil)[0].Err
}

// TestTitlesOfAList: what a list calls a feed is shown until the feed says it, over
// a restart and failed fetches too, and told to nobody else.
func TestTitlesOfAList(t *testing.T) {
	site := newSite(t)
	site.Away.Store(true)
	cfg := peerConfig(t, "b.example")
	cfg.AllowPrivateFeeds = true
	n := startPeer(t, cfg)
	private := feedring.FeedSpec{URL: site.URL + "/private.xml", Provider: "a.example"}
	public := feedring.FeedSpec{URL: site.URL + "/public.xml", Theme: testTheme, Provider: "a.example"}
	for _, said := range n.AddFeeds(t.Context(), []feedring.FeedSpec{private, public}, []string{"Mine", "Ours"}) {
		check(t, said.Err)
	}
	shown := func(url, want string) {
		t.Helper()
		if st, err := n.Feed(url); err != nil || st.Title != want {
			t.Errorf("%s is shown as %q, %v", url, st.Title, err)
		}
	}
	_, _ = n.Ping(t.Context(), private.URL) // the origin is away
	kill(n)
	n = startPeer(t, cfg)
	shown(private.URL, "Mine")
	shown(public.URL, "Ours")
	for _, f := range n.origins.Offered()[testTheme] {
		if f.URL == public.URL && f.Title != "" {
			t.Errorf("others are told %q", f.Title)
		}
	}
	site.Away.Store(false)
	_, err := n.Ping(t.Context(), private.URL)
	check(t, err)
	shown(private.URL, "T")
}
