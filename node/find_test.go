package node

import (
	"cmp"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/web"
)

// pages is a site of fixed pages that writes down what it is asked for.
type pages struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newPages(t *testing.T, bodies map[string]string) *pages {
	t.Helper()
	p := &pages{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked = append(p.asked, r.URL.Path)
		p.mu.Unlock()
		body, ok := bodies[r.URL.Path]
		switch {
		case strings.HasPrefix(body, "to "):
			http.Redirect(w, r, body[3:], http.StatusMovedPermanently)
		case body == "gone":
			w.WriteHeader(http.StatusGone)
		case ok:
			_, _ = w.Write([]byte(body))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *pages) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

const (
	aFeed = `<rss version="2.0"><channel><title>T</title><item><guid>1</guid><title>one</title></item></channel></rss>`
	aLink = `<link rel="alternate" type="application/rss+xml"`
)

// TestFindFeed adds what a person pastes, and counts what the site is asked.
func TestFindFeed(t *testing.T) {
	cfg := peerConfig(t, "own.example")
	cfg.AllowPrivateFeeds = true
	n := startPeer(t, cfg)
	for name, c := range map[string]struct {
		given  string
		bodies map[string]string
		want   string   // of the feed; empty: several; none: an error
		note   string   // in the note
		asked  []string // then, before it is added
	}{
		"a feed":             {"/f", map[string]string{"/f": aFeed}, "/f", "", []string{"/f"}},
		"a page":             {"/", map[string]string{"/": "<html>" + aLink + " href=f>", "/f": aFeed}, "/f", "", []string{"/"}},
		"a page elsewhere":   {"/", map[string]string{"/": "to /blog/", "/blog/": "<html>" + aLink + " href=f>"}, "/blog/f", "", []string{"/", "/blog/"}},
		"a page of several":  {"/", map[string]string{"/": "<html>" + aLink + " title=A href=a>" + aLink + " title=B href=b>"}, "", "", []string{"/"}},
		"a site without":     {"/", map[string]string{"/": "<html><title>Hi</title>", "/rss.xml": aFeed}, "/rss.xml", "", []string{"/", "/feed", "/rss.xml"}},
		"a site of nothing":  {"/", map[string]string{"/": "<html><title>Hi</title>"}, "none", "", []string{"/", "/feed", "/rss.xml", "/atom.xml", "/index.xml"}},
		"a page without":     {"/about", map[string]string{"/about": "<html><title>Hi</title>"}, "none", "", []string{"/about"}},
		"a page of itself":   {"/p", map[string]string{"/p": "<html><title>Hi</title>" + aLink + " href=/p>"}, "none", "", []string{"/p"}},
		"a page before it":   {"/f", map[string]string{"/f": "<html><title>Just a moment...</title>"}, "/f", "challenge page (Cloudflare): it is fetched again", []string{"/f"}},
		"one that is gone":   {"/f", map[string]string{"/f": "gone"}, "none", "410: the origin says that the feed is gone for good: correct", []string{"/f"}},
		"nothing there":      {"/f", nil, "none", "404: the origin has no such feed: correct", []string{"/f"}},
		"nothing in it":      {"/f", map[string]string{"/f": ""}, "none", "the document is empty", []string{"/f"}},
		"no entries":         {"/f", map[string]string{"/f": `<rss version="2.0"><channel><title>T</title></channel></rss>`}, "/f", "", []string{"/f"}},
		"something else":     {"/f", map[string]string{"/f": "%PDF-1.7"}, "none", "a PDF file", []string{"/f"}},
		"a feed named HTML":  {"/f.html", map[string]string{"/f.html": aFeed}, "/f.html", "", []string{"/f.html"}},
		"a way to no site":   {"/f", map[string]string{"/f": "to file:///etc/passwd"}, "none", "only http and https are fetched", []string{"/f"}},
		"a page that hangs ": {"/", map[string]string{"/": "to /"}, "none", "redirect loop", []string{"/"}},
	} {
		t.Run(name, func(t *testing.T) {
			site := newPages(t, c.bodies)
			found, err := n.FindFeed(t.Context(), feedring.FeedSpec{URL: site.URL + c.given, Provider: "p.example"})
			var several *web.SeveralFeeds
			switch {
			case c.want == "":
				if !errors.As(err, &several) || len(several.Feeds) != 2 || several.Feeds[1] != (web.NamedFeed{URL: site.URL + "/b", Title: "B"}) {
					t.Errorf("%v, %+v", err, several)
				}
			case c.want == "none":
				var not *web.NotFeedError
				if !errors.As(err, &not) || !strings.Contains(err.Error(), cmp.Or(c.note, `it is an HTML page titled "Hi" and names no feed: give`)) {
					t.Errorf("%+v, %v", found, err)
				}
			case err != nil || found.URL != site.URL+c.want || (found.Note == "") != (c.note == "") || !strings.Contains(found.Note, c.note):
				t.Errorf("%+v, %v", found, err)
			}
			if got := site.requests(); !slices.Equal(got, c.asked) {
				t.Errorf("asked for %q", got)
			}
		})
	}
}

// TestAPreviewIsTheFirstFetch: an origin is asked once for what is added.
func TestAPreviewIsTheFirstFetch(t *testing.T) {
	cfg := peerConfig(t, "own.example")
	cfg.AllowPrivateFeeds = true
	n := startPeer(t, cfg)
	site := newPages(t, map[string]string{"/f": aFeed})
	spec := feedring.FeedSpec{URL: site.URL + "/f", Provider: "p.example"}
	if _, err := n.FindFeed(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	check(t, addFeed(t, n, spec))
	eventually(t, "an entry", func() bool {
		return slices.ContainsFunc(n.Feeds(true), func(f web.FeedStatus) bool { return f.Entries == 1 })
	})
	if got := site.requests(); len(got) != 1 {
		t.Errorf("asked for %q", got)
	}
	if found, err := n.FindFeed(t.Context(), spec); err != nil || found.URL != spec.URL || len(site.requests()) != 1 {
		t.Errorf("what is there is fetched again: %v, %v, %q", found, err, site.requests())
	}
}

// TestFindFeedStaysOutside: no page leads to where this peer may not go, and
// none is asked that is private.
func TestFindFeedStaysOutside(t *testing.T) {
	n := startPeer(t, peerConfig(t, "own.example"))
	site := newPages(t, map[string]string{"/": "<html>" + aLink + " href=f>"})
	found, err := n.FindFeed(t.Context(), feedring.FeedSpec{URL: site.URL, Provider: "p.example"})
	if err != nil || found.URL != site.URL || len(site.requests()) != 0 {
		t.Errorf("%v, %v, asked for %q", found, err, site.requests())
	}
}

// TestFindFeedObeysTheHost: a site that asked to be left alone is, and one that
// leads in circles is asked once.
func TestFindFeedObeysTheHost(t *testing.T) {
	cfg := peerConfig(t, "own.example")
	cfg.AllowPrivateFeeds, cfg.Interval = true, 0
	n := startPeer(t, cfg)
	site := newPages(t, map[string]string{"/loop": "to /loop"})
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/a" {
			t.Errorf("asked for %s", r.URL)
		}
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer busy.Close()
	for url, note := range map[string]string{site.URL + "/loop": "redirect loop", busy.URL + "/a": "429"} {
		spec := feedring.FeedSpec{URL: url, Provider: "p.example"}
		found, err := n.FindFeed(t.Context(), spec)
		var not *web.NotFeedError
		if errors.As(err, &not) {
			found.Note = not.Reason
		}
		if !strings.Contains(found.Note, note) {
			t.Errorf("%s: %+v, %v", url, found, err)
		}
		check(t, addFeed(t, n, spec))
		eventually(t, "the first look", func() bool {
			st, err := n.Feed(url)
			return err == nil && st.Error != ""
		})
	}
	found, err := n.FindFeed(t.Context(), feedring.FeedSpec{URL: busy.URL + "/b", Provider: "p.example"})
	if err != nil || !strings.Contains(found.Note, "asked to be left alone until") || !strings.Contains(found.Note, "fetched then") {
		t.Errorf("%+v, %v", found, err)
	}
	if asked := site.requests(); len(asked) != 1 {
		t.Errorf("a loop is asked for as %q", asked)
	}
}
