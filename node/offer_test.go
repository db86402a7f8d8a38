package node

import (
	"slices"
	"strings"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/internal/web"
)

// TestASitesPeerIsOffered: what a feed names is told until it is joined, and
// never joined for it.
func TestASitesPeerIsOffered(t *testing.T) {
	const other = "12D3KooWGRUVh9oaJYM3wkWgxPWjYhuTVQwGPdbdH3JFLxuZVZG9"
	named := func(link string) string {
		return strings.Replace(aFeed, "<title>T</title>", `<title>T</title><atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="feedring" href="`+link+`"/>`, 1)
	}
	cfg := peerConfig(t, "own.example")
	cfg.AllowPrivateFeeds = true
	n := startPeer(t, cfg)
	site := newPages(t, map[string]string{
		"/by-site": named("/.well-known/feedring"), "/by-id": named("feedring:" + other), "/own": named("feedring:" + string(n.ID())),
		"/elsewhere": named("https://evil.example/"), "/none": aFeed,
	})
	domain := vouch.SiteOf(site.URL)
	for path, want := range map[string]struct {
		join string
		peer feedring.PeerID
	}{"/by-site": {domain, ""}, "/by-id": {"", other}, "/own": {}, "/elsewhere": {}, "/none": {}} {
		spec := feedring.FeedSpec{URL: site.URL + path, Provider: "p.example"}
		found, err := n.FindFeed(t.Context(), spec)
		if err != nil || found.Join != want.join || found.SitePeer != want.peer {
			t.Errorf("%s, before: %+v, %v", path, found, err)
		}
		check(t, addFeed(t, n, spec))
		eventually(t, "a look at "+path, func() bool {
			return slices.ContainsFunc(n.Feeds(true), func(f web.FeedStatus) bool {
				return f.URL == spec.URL && !f.LastOK.IsZero() && f.Join == want.join && f.SitePeer == want.peer
			})
		})
	}
	if slices.Contains(site.requests(), "/.well-known/feedring") || len(n.joins.All()) > 0 {
		t.Errorf("the site was asked for %q", site.requests())
	}
	_, err := n.joins.Change(t.Context(), domain, true)
	check(t, err)
	if got, _ := n.joinable(site.URL+"/by-site", "/.well-known/feedring"); got != "" {
		t.Errorf("joined, and still offered: %q", got)
	}
}

// TestAPeerThatIsThereIsNotOffered: one of the same group is joined already.
func TestAPeerThatIsThereIsNotOffered(t *testing.T) {
	a := startPeer(t, peerConfig(t, "a.example"))
	b := startPeer(t, peerConfig(t, "b.example", a))
	eventually(t, "a connection", func() bool { return b.joined("", a.ID()) })
	if b.joined("", "12D3KooWGRUVh9oaJYM3wkWgxPWjYhuTVQwGPdbdH3JFLxuZVZG9") || b.joined("a.example", "") {
		t.Error("a stranger is joined")
	}
}
