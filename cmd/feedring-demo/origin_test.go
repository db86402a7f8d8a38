package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"

	"github.com/feedring/feedring"
)

var testNow = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// served is an origin that is closed after the test.
func served(t *testing.T) *origin {
	t.Helper()
	o, err := openOrigin(testNow)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.server.Close() })
	return o
}

func get(t *testing.T, address string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func TestPapers(t *testing.T) {
	papers, err := readPapers(bundled)
	if err != nil {
		t.Fatal(err)
	}
	if len(papers) < 12 || len(papers)%5 == 0 {
		t.Fatalf("%d papers: there are to be 12 or more, and no multiple of 5", len(papers))
	}
	languages, titles := map[string]bool{}, map[string]bool{}
	for _, p := range papers {
		languages[p.Language] = true
		if p.Title == "" || p.Form == "" || len(p.Articles) < 8 || !p.Theme.Known() {
			t.Errorf("%s: title %q, form %q, theme %q, %d articles", p.Name, p.Title, p.Form, p.Theme, len(p.Articles))
		}
		spec := fmt.Sprintf("%s=%s@http://127.0.0.1:1/%s", p.Theme, p.provider(), p.Name)
		if _, err := feedring.ParseFeedSpec(spec); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		for _, a := range p.Articles {
			if a[0] == "" || a[1] == "" || titles[p.Name+a[0]] {
				t.Errorf("%s: %q is empty or there twice", p.Name, a[0])
			}
			titles[p.Name+a[0]] = true
		}
	}
	if !languages["en"] || !languages["fr"] || !languages["de"] {
		t.Errorf("languages %v", languages)
	}
	if _, err := readPapers([]byte("[[papers]]\ncolour = 'blue'\n")); err == nil {
		t.Error("a key that says nothing about a feed is accepted")
	}
}

// TestLayout holds what complete waits for against what is published.
func TestLayout(t *testing.T) {
	papers, err := readPapers(bundled)
	if err != nil {
		t.Fatal(err)
	}
	members := map[feedring.Theme]map[int]bool{}
	publishers := map[int]bool{}
	for _, p := range papers {
		if members[p.Theme] == nil {
			members[p.Theme] = map[int]bool{}
		}
		members[p.Theme][p.Peer], publishers[p.Peer] = true, true
		if p.Peer < 1 || p.Peer > peers {
			t.Errorf("%s is published by peer %d", p.Name, p.Peer)
		}
	}
	if len(members) != 4 || len(publishers) != peers {
		t.Errorf("%d groups, %d peers that publish", len(members), len(publishers))
	}
	var groups []feedring.RingGroup
	for theme, peers := range members {
		groups = append(groups, feedring.RingGroup{Theme: theme, Manager: "a", Secondary: "b", Peers: len(peers)})
	}
	if !complete(groups) {
		t.Errorf("these groups are not complete: %+v", groups)
	}
	groups[0].Secondary = ""
	if complete(groups) || complete(groups[1:]) {
		t.Error("a group without a secondary, or none, is complete")
	}
}

func TestFeedsParse(t *testing.T) {
	o := served(t)
	forms := map[string]bool{}
	for _, p := range o.papers {
		resp, body := get(t, o.base+"/"+p.Name)
		feed, err := gofeed.NewParser().ParseString(body)
		if err != nil {
			t.Fatalf("%s: %v\n%s", p.Name, err, body)
		}
		forms[feed.FeedType] = true
		if feed.Title != p.Title || len(feed.Items) != firstItems ||
			feed.Language != p.Language && !strings.Contains(body, fmt.Sprintf("xml:lang=%q", p.Language)) {
			t.Errorf("%s: %q, %d items in %q", p.Name, feed.Title, len(feed.Items), feed.Language)
		}
		for i, item := range feed.Items {
			want := p.Articles[firstItems-1-i]
			if item.Title != want[0] || item.GUID == "" || item.PublishedParsed == nil || !item.PublishedParsed.Before(testNow) ||
				!strings.Contains(item.Content+item.Description, "<p>") {
				t.Errorf("%s: %+v", p.Name, item)
			}
			if resp, page := get(t, item.Link); resp.StatusCode != 200 || !strings.Contains(page, "<h1>") {
				t.Errorf("%s: %s: %s", p.Name, item.Link, resp.Status)
			}
		}
		if again, _ := get(t, o.base+"/"+p.Name, "If-None-Match", resp.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
			t.Errorf("%s unchanged: %s", p.Name, again.Status)
		}
	}
	if len(forms) != 3 {
		t.Errorf("forms %v", forms)
	}
	for _, path := range []string{"/", "/none", "/harbour-courier/0", "/harbour-courier/x", "/harbour-courier/99", "/harbour-courier/"} {
		if resp, _ := get(t, o.base+path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
}

// TestOriginGoesOn publishes far more than the papers have to tell.
func TestOriginGoesOn(t *testing.T) {
	o := served(t)
	etags, turns := map[string]string{}, map[feedring.Provider]int{}
	for _, p := range o.papers {
		resp, _ := get(t, o.base+"/"+p.Name)
		etags[p.Name] = resp.Header.Get("ETag")
	}
	ids := map[string]bool{}
	for n := range 20 * len(o.papers) {
		it := o.publish(testNow.Add(time.Duration(n) * time.Second))
		turns[it.Provider]++
		id := it.Feed + " " + string(it.ID)
		if ids[id] || ids[it.URL] {
			t.Fatalf("%s comes twice", id)
		}
		ids[id], ids[it.URL] = true, true
		if at, ok := o.publishedAt(it.URL); !ok || !at.Equal(it.Published) {
			t.Fatalf("%s was published at %v, %v", it.URL, at, ok)
		}
	}
	for _, p := range o.papers {
		if turns[feedring.Provider(p.provider())] != 20 {
			t.Errorf("%s published %d times", p.Name, turns[feedring.Provider(p.provider())])
		}
		resp, body := get(t, o.base+"/"+p.Name, "If-None-Match", etags[p.Name])
		feed, err := gofeed.NewParser().ParseString(body)
		if err != nil || resp.StatusCode != 200 || len(feed.Items) != keptItems || !strings.HasSuffix(feed.Items[0].Title, " (3)") {
			t.Errorf("%s: %s, %v, %+v", p.Name, resp.Status, err, feed)
		}
	}
}
