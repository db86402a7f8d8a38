package node

import (
	"slices"
	"strings"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/internal/web"
)

const other = "12D3KooWGRUVh9oaJYM3wkWgxPWjYhuTVQwGPdbdH3JFLxuZVZG9"

// linked is a feed with a link to a peer, or to a site's document of its peers.
func linked(link string) string {
	return strings.Replace(aFeed, "<title>T</title>", `<title>T</title><atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="feedring" href="`+link+`"/>`, 1)
}

// TestASitesPeerIsOffered: what a feed names is told until it is joined, and
// never joined for it.
func TestASitesPeerIsOffered(t *testing.T) {
	cfg := peerConfig(t, "own.example")
	cfg.AllowPrivateFeeds = true
	n := startPeer(t, cfg)
	site := newPages(t, map[string]string{
		"/by-site": linked("/.well-known/feedring"), "/by-id": linked("feedring:" + other), "/own": linked("feedring:" + string(n.ID())),
		"/elsewhere": linked("https://evil.example/"), "/none": aFeed,
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
	if got, err := n.Feed(site.URL + "/by-site"); err != nil || got.Join != "" {
		t.Errorf("joined, and still offered: %q, %v", got.Join, err)
	}
}

// TestAPeerThatIsThereIsNotOffered: one of the same group is joined already.
func TestAPeerThatIsThereIsNotOffered(t *testing.T) {
	a := startPeer(t, peerConfig(t, "a.example"))
	cfg := peerConfig(t, "b.example", a)
	cfg.AllowPrivateFeeds = true
	b := startPeer(t, cfg)
	site := newPages(t, map[string]string{
		"/there": linked("feedring:" + string(a.ID())), "/stranger": linked("feedring:" + other), "/site": linked("/.well-known/feedring"),
	})
	offered := func(path string) web.Found {
		found, err := b.FindFeed(t.Context(), feedring.FeedSpec{URL: site.URL + path, Provider: "p.example"})
		check(t, err)
		return found
	}
	eventually(t, "a connection", func() bool { return offered("/there").SitePeer == "" })
	if offered("/stranger").SitePeer != other || offered("/site").Join != vouch.SiteOf(site.URL) {
		t.Error("a stranger is joined")
	}
}
