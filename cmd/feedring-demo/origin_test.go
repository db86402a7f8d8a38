package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"

	"github.com/feedring/feedring"
)

var testNow = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// served is an origin behind a test server.
func served(t *testing.T) *origin {
	t.Helper()
	o, err := newOrigin("", testNow)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	o.base = server.URL
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
	papers, err := readPapers()
	if err != nil {
		t.Fatal(err)
	}
	if len(papers) < 12 || len(papers)%5 == 0 {
		t.Fatalf("%d papers: there are to be 12 or more, and no multiple of 5", len(papers))
	}
	languages, titles := map[string]bool{}, map[string]bool{}
	for _, p := range papers {
		languages[p.language] = true
		if p.title == "" || p.form == "" || len(p.articles) < 8 || !p.theme.Known() {
			t.Errorf("%s: title %q, form %q, theme %q, %d articles", p.name, p.title, p.form, p.theme, len(p.articles))
		}
		spec := fmt.Sprintf("%s=%s@http://127.0.0.1:1/%s", p.theme, p.provider(), p.file())
		if _, err := feedring.ParseFeedSpec(spec); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		for _, a := range p.articles {
			if a.title == "" || a.text == "" || titles[p.name+a.title] {
				t.Errorf("%s: %q is empty or there twice", p.name, a.title)
			}
			titles[p.name+a.title] = true
		}
	}
	if !languages["en"] || !languages["fr"] || !languages["de"] {
		t.Errorf("languages %v", languages)
	}
	if _, err := parsePaper("colour: blue\n"); err == nil {
		t.Error("a line that says nothing about a feed is accepted")
	}
}

// TestLayout holds what complete waits for against what is published.
func TestLayout(t *testing.T) {
	papers, err := readPapers()
	if err != nil {
		t.Fatal(err)
	}
	published := map[string]int{}
	members := map[feedring.Theme]map[int]bool{}
	for i, names := range layout {
		for _, name := range names {
			published[name]++
			for _, p := range papers {
				if p.name == name {
					if members[p.theme] == nil {
						members[p.theme] = map[int]bool{}
					}
					members[p.theme][i] = true
				}
			}
		}
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
	for _, p := range papers {
		if published[p.name] != 1 {
			t.Errorf("%s is published by %d peers", p.name, published[p.name])
		}
	}
}

func TestFeedsParse(t *testing.T) {
	o := served(t)
	forms := map[string]bool{}
	for _, p := range o.papers {
		resp, body := get(t, o.base+"/"+p.file())
		feed, err := gofeed.NewParser().ParseString(body)
		if err != nil {
			t.Fatalf("%s: %v\n%s", p.name, err, body)
		}
		forms[feed.FeedType] = true
		if feed.Title != p.title || len(feed.Items) != firstItems || feed.Language != p.language {
			t.Errorf("%s: %q, %d items in %q", p.name, feed.Title, len(feed.Items), feed.Language)
		}
		for i, item := range feed.Items {
			want := p.articles[firstItems-1-i]
			if item.Title != want.title || item.GUID == "" || item.PublishedParsed == nil || !item.PublishedParsed.Before(testNow) ||
				!strings.Contains(item.Content+item.Description, "<p>") {
				t.Errorf("%s: %+v", p.name, item)
			}
			if resp, page := get(t, o.base+strings.TrimPrefix(item.Link, o.base)); resp.StatusCode != 200 || !strings.Contains(page, "<h1>") {
				t.Errorf("%s: %s: %s", p.name, item.Link, resp.Status)
			}
		}
		if again, _ := get(t, o.base+"/"+p.file(), "If-None-Match", resp.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
			t.Errorf("%s unchanged: %s", p.name, again.Status)
		}
	}
	if len(forms) != 3 {
		t.Errorf("forms %v", forms)
	}
	for _, path := range []string{"/", "/none.xml", "/harbour-courier/0", "/harbour-courier/x", "/harbour-courier/99", "/harbour-courier/"} {
		if resp, _ := get(t, o.base+path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
}

// TestOriginGoesOn publishes far more than the papers have to tell.
func TestOriginGoesOn(t *testing.T) {
	o := served(t)
	etags, turns := map[string]string{}, map[*paper]int{}
	for _, p := range o.papers {
		resp, _ := get(t, o.base+"/"+p.file())
		etags[p.name] = resp.Header.Get("ETag")
	}
	ids := map[string]bool{}
	for n := range 20 * len(o.papers) {
		it := o.publish(testNow.Add(time.Duration(n) * time.Second))
		turns[it.paper]++
		if ids[it.id()] || ids[it.url] {
			t.Fatalf("%s comes twice", it.id())
		}
		ids[it.id()], ids[it.url] = true, true
		if at, ok := o.publishedAt(it.url); !ok || !at.Equal(it.published) {
			t.Fatalf("%s was published at %v, %v", it.url, at, ok)
		}
	}
	for _, p := range o.papers {
		if turns[p] != 20 {
			t.Errorf("%s published %d times", p.name, turns[p])
		}
		resp, body := get(t, o.base+"/"+p.file(), "If-None-Match", etags[p.name])
		feed, err := gofeed.NewParser().ParseString(body)
		if err != nil || resp.StatusCode != 200 || len(feed.Items) != keptItems || !strings.HasSuffix(feed.Items[0].Title, " (3)") {
			t.Errorf("%s: %s, %v, %+v", p.name, resp.Status, err, feed)
		}
	}
}
