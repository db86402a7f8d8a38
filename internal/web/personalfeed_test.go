package web

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"

	"github.com/feedring/feedring"
)

func TestPersonalFeed(t *testing.T) {
	s, p := personalSite()
	for ending, kind := range map[string]string{
		"atom": "application/atom+xml; charset=utf-8", "rss": "application/rss+xml; charset=utf-8", "json": "application/feed+json; charset=utf-8",
	} {
		w := call(t, s, "GET", "/feeds/s3cret."+ending, "")
		feed, err := gofeed.NewParser().Parse(bytes.NewReader(w.Body.Bytes()))
		if err != nil {
			t.Fatalf("%s: %v", ending, err)
		}
		self := "https://news.example/ring/feeds/s3cret." + ending
		if w.Header().Get("Content-Type") != kind || len(feed.Items) != 2 || feed.Items[0].Title != "Entry 1" || feed.FeedLink != self ||
			w.Header().Get("Link") != "<"+self+`>; rel="self", <https://news.example/ring/hub>; rel="hub"` || !strings.Contains(w.Body.String(), "/ring/hub") {
			t.Errorf("%s: %v %+v", ending, w.Header(), feed)
		}
		for name, want := range map[string]string{
			"Cache-Control": "private, max-age=60", "X-Robots-Tag": "noindex", "Referrer-Policy": "no-referrer", "Vary": "Accept-Encoding, A-IM",
			"Last-Modified": "Wed, 04 Mar 2026 11:59:00 GMT", "Content-Length": fmt.Sprint(w.Body.Len()),
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s: %q, not %q", ending, name, got, want)
			}
		}
		zipped := call(t, s, "GET", "/feeds/s3cret."+ending, "", "Accept-Encoding: br, gzip;q=0.5")
		z, err := gzip.NewReader(zipped.Body)
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := io.ReadAll(z); err != nil || !bytes.Equal(plain, w.Body.Bytes()) {
			t.Errorf("%s: compressed it is another: %v", ending, err)
		}
		if zipped.Header().Get("Etag") == w.Header().Get("Etag") || zipped.Header().Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: %v", ending, zipped.Header())
		}
		head := call(t, s, "HEAD", "/feeds/s3cret."+ending, "")
		if head.Code != 200 || head.Body.Len() > 0 || head.Header().Get("Etag") != w.Header().Get("Etag") || head.Header().Get("Content-Type") != kind {
			t.Errorf("%s: HEAD: %d %v", ending, head.Code, head.Header())
		}
	}
	if p.reads != 3 {
		t.Errorf("read %d times: documents are not kept ready", p.reads)
	}
}

// TestPersonalFeedUnchanged: who has it is told so without a look at entries,
// until something changes.
func TestPersonalFeedUnchanged(t *testing.T) {
	s, p := personalSite()
	first := call(t, s, "GET", "/feeds/s3cret.rss", "")
	tag, at := first.Header().Get("Etag"), first.Header().Get("Last-Modified")
	zipped := call(t, s, "HEAD", "/feeds/s3cret.rss", "", "Accept-Encoding: gzip").Header().Get("Etag")
	reads := p.reads
	for _, header := range []string{
		"If-None-Match: " + tag, "If-None-Match: W/" + tag, "If-None-Match: \"x\", " + zipped, "If-None-Match: *", "If-Modified-Since: " + at,
	} {
		if w := call(t, s, "GET", "/feeds/s3cret.rss", "", header); w.Code != 304 || w.Body.Len() > 0 || w.Header().Get("Etag") != tag {
			t.Errorf("%s: %d %v", header, w.Code, w.Header())
		}
	}
	if p.reads != reads {
		t.Error("entries were read")
	}
	if w := call(t, s, "GET", "/feeds/s3cret.atom", "", "If-None-Match: "+tag); w.Code != 200 {
		t.Errorf("another format: %d", w.Code)
	}
	p.change(8, testNow.Add(-time.Second), entryAt(3, time.Minute))
	for _, header := range []string{"If-None-Match: " + tag, "If-None-Match: " + tag + "\nIf-Modified-Since: " + at, "If-Modified-Since: " + at} {
		w := call(t, s, "GET", "/feeds/s3cret.rss", "", strings.Split(header, "\n")...)
		if w.Code != 200 || !strings.Contains(w.Body.String(), "Entry 3") || w.Header().Get("Etag") == tag {
			t.Errorf("%s: %d %v", header, w.Code, w.Header())
		}
	}
}

// TestPersonalFeedDelta: a reader that asks for what is new since a tag is given
// that alone, and the whole where it is not known what it has.
func TestPersonalFeedDelta(t *testing.T) {
	s, p := personalSite()
	poll := func(headers ...string) (code int, tag string, titles string) {
		w := call(t, s, "GET", "/feeds/s3cret.atom", "", headers...)
		feed, err := gofeed.NewParser().Parse(bytes.NewReader(w.Body.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range feed.Items {
			titles += item.Title + ";"
		}
		if im := w.Header().Get("IM"); (im == "feed") != (w.Code == 226) {
			t.Errorf("%d with IM %q", w.Code, im)
		}
		return w.Code, w.Header().Get("Etag"), titles
	}
	_, first, _ := poll()
	p.change(8, testNow, entryAt(3, time.Minute), entryAt(1, time.Hour), entryAt(2, 2*time.Hour))
	code, second, titles := poll("A-IM: feed", "If-None-Match: W/"+first)
	if code != 226 || titles != "Entry 3;" {
		t.Errorf("%d: %s", code, titles)
	}
	newer := entryAt(1, time.Hour)
	newer.Version++
	p.change(9, testNow, entryAt(4, time.Second), entryAt(3, time.Minute), newer)
	whole := "Entry 4;Entry 3;Entry 1;"
	for _, test := range []struct {
		headers []string
		code    int
		titles  string
	}{
		{[]string{"A-IM: x, feed", "If-None-Match: " + first}, 226, whole},
		{[]string{"A-IM: feed;q=0", "If-None-Match: " + first}, 200, whole},
		{[]string{"If-None-Match: " + first}, 200, whole}, // from here on the state is known
		{[]string{"A-IM: feed", `If-None-Match: "x", ` + first}, 226, whole},
		{[]string{"A-IM: feed", `If-None-Match: "x"`}, 200, whole},
		{[]string{"A-IM: feed"}, 200, whole},
		{[]string{"A-IM: feed", "If-None-Match: " + second}, 226, "Entry 4;Entry 1;"}, // of which the whole was never sent
	} {
		if code, _, titles := poll(test.headers...); code != test.code || titles != test.titles {
			t.Errorf("%v: %d, %s", test.headers, code, titles)
		}
	}
	_, third, _ := poll()
	p.change(10, testNow, entryAt(4, time.Second))
	if code, _, titles := poll("A-IM: feed", "If-None-Match: "+third); code != 200 || titles != "Entry 4;" {
		t.Errorf("something went: %d, %s", code, titles)
	}
}

// TestPersonalFeedWithinASecond: two changes in one second are told apart by
// date, too.
func TestPersonalFeedWithinASecond(t *testing.T) {
	s, p := personalSite()
	p.change(1, testNow, entryAt(1, 0))
	at := call(t, s, "GET", "/feeds/s3cret.rss", "").Header().Get("Last-Modified")
	p.change(2, testNow, entryAt(2, 0))
	if w := call(t, s, "GET", "/feeds/s3cret.rss", "", "If-Modified-Since: "+at); w.Code != 200 {
		t.Errorf("%d since %s", w.Code, at)
	}
}

func TestPersonalFeedUnknown(t *testing.T) {
	var log bytes.Buffer
	s, p := personalSite(func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	var told string
	for _, path := range []string{"/feeds/s3cre.rss", "/feeds/s3cret", "/feeds/s3cret.html", "/feeds/.rss", "/feeds/" + strings.Repeat("x", 2000) + ".rss"} {
		w := call(t, s, "GET", path, "")
		if told == "" {
			told = w.Body.String()
		}
		if w.Code != 404 || w.Body.String() != told || w.Header().Get("Etag") != "" {
			t.Errorf("%.50s: %d %s", path, w.Code, w.Body)
		}
	}
	p.fails = fmt.Errorf("the disk is gone")
	if w := call(t, s, "GET", "/feeds/s3cret.rss", ""); w.Code != 503 || w.Header().Get("Etag") != "" || w.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if !strings.Contains(log.String(), "the disk is gone") || strings.Contains(log.String(), "s3cret") {
		t.Errorf("logged: %s", &log)
	}
}

// TestReadyIsBounded keeps what fits.
func TestReadyIsBounded(t *testing.T) {
	r := newReady()
	for n := range 100 {
		r.put(fmt.Sprint(n), &readyDoc{tag: "t", zipped: make([]byte, maxReadyDoc)})
	}
	r.put("large", &readyDoc{tag: "t", zipped: make([]byte, maxReadyDoc+1)})
	if r.bytes > maxReady || r.get("99", "t") == nil || r.get("0", "t") != nil || r.get("large", "t") != nil || r.get("99", "u") != nil {
		t.Errorf("%d bytes of %d documents", r.bytes, r.docs.Len())
	}
	for _, address := range r.docs.Keys() {
		for n := range 100 {
			r.put(address, &readyDoc{tag: fmt.Sprint(n), zipped: []byte("x"), shows: []uint64{uint64(n)}})
		}
		if _, ok := r.shown(address, "90"); ok {
			t.Error("it is known for ever what a document showed")
		}
		for n := 99 - maxShown; n < 100; n++ {
			if had, ok := r.shown(address, fmt.Sprint(n)); !ok || had[0] != uint64(n) {
				t.Errorf("state %d showed %v", n, had)
			}
		}
	}
	if most := r.docs.Len() * 700; r.bytes > most {
		t.Errorf("%d bytes, at most %d", r.bytes, most)
	}
}

func BenchmarkPersonalFeed(b *testing.B) {
	s, p := personalSite()
	var entries []feedring.Entry
	for n := range 50 {
		e := entryAt(n, time.Hour)
		e.ContentHTML = strings.Repeat("<p>Some <b>words</b> of an article.</p>", 50)
		entries = append(entries, e)
	}
	p.change(1, testNow, entries...)
	tag := call(b, s, "HEAD", "/feeds/s3cret.atom", "", "Accept-Encoding: gzip").Header().Get("Etag")
	for name, headers := range map[string][]string{
		"304": {"Accept-Encoding: gzip", "If-None-Match: " + tag}, "200": {"Accept-Encoding: gzip"}, "plain": nil,
	} {
		b.Run(name, func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					call(b, s, "GET", "/feeds/s3cret.atom", "", headers...)
				}
			})
		})
	}
	b.Run("changed", func(b *testing.B) {
		for n := 0; b.Loop(); n++ {
			p.change(uint64(n+2), testNow, entries...)
			call(b, s, "GET", "/feeds/s3cret.atom", "", "Accept-Encoding: gzip")
		}
	})
}
