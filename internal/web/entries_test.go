package web

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"

	"github.com/feedring/feedring"
)

func TestEntries(t *testing.T) {
	f := newFake()
	f.entries = []feedring.Entry{entryAt(1, time.Hour), entryAt(2, time.Minute)}
	f.private = []feedring.Entry{entryAt(3, time.Second)}
	s := testSite(f, false)

	w := call(t, s, "GET", "/api/v1/entries?theme=News&provider=A.example&q=entry&since=2h&until=2026-03-04T12:00:00Z&limit=7", "", "Prefer: wait=5")
	var got []feedring.Entry
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Title != "Entry 2" || got[1].Title != "Entry 1" {
		t.Errorf("entries %v", got)
	}
	want := feedring.Query{Theme: "news", Provider: "a.example", Words: "entry", Since: testNow.Add(-2 * time.Hour), Until: testNow, Limit: 7}
	if f.asked[0].Query != want || f.asked[0].Private {
		t.Errorf("asked %+v", f.asked[0])
	}
	if final := w.Header().Get("Feedring-Final"); final != `{"event":"answered","via":"12D3B","theme":"news","hops":3,"messages":7,"entries":2}` {
		t.Errorf("final %s", final)
	}
	if link := w.Header().Get("Link"); link != "" {
		t.Errorf("more is promised: %s", link)
	}
	if w := call(t, s, "GET", "/api/v1/entries", "", withToken); !strings.Contains(w.Body.String(), "Entry 3") || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("with the token: %s", w.Body)
	}
	if w := call(t, testSite(f, true), "GET", "/api/v1/entries", ""); !strings.Contains(w.Body.String(), "Entry 3") {
		t.Errorf("on the socket: %s", w.Body)
	}
}

func TestEntriesAsLines(t *testing.T) {
	f := newFake()
	f.entries = []feedring.Entry{entryAt(1, time.Hour), entryAt(2, time.Minute)}
	w := call(t, testSite(f, false), "GET", "/api/v1/entries", "", "Accept: text/html;q=0.5, application/x-ndjson")
	lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
	if len(lines) != 3 || w.Header().Get("Content-Type") != "application/x-ndjson" {
		t.Fatalf("%s\n%s", w.Header(), w.Body)
	}
	if !strings.HasPrefix(lines[0], `{"id":"`) || lines[2] != `{"event":"answered","via":["12D3B"],"hops":3,"messages":7,"entries":2}` {
		t.Errorf("%s", w.Body)
	}
	f.final = feedring.Final{Status: feedring.Unsatisfied, Hops: 10, Messages: 22}
	f.entries = nil
	w = call(t, testSite(f, false), "GET", "/api/v1/entries?theme=news", "", "Accept: application/x-ndjson")
	if w.Body.String() != `{"event":"unsatisfied","hops":10,"messages":22}`+"\n" {
		t.Errorf("%s", w.Body)
	}
	f.fails = context.DeadlineExceeded
	w = call(t, testSite(f, false), "GET", "/api/v1/entries?theme=news&provider=a", "", "Accept: application/x-ndjson")
	if w.Body.String() != `{"event":"incomplete","missing":["news/a"],"hops":0,"messages":0,"entries":0}`+"\n" {
		t.Errorf("%s", w.Body)
	}
}

func TestGzip(t *testing.T) {
	f := newFake()
	for i := range 40 {
		f.entries = append(f.entries, entryAt(i, time.Hour))
	}
	plain := call(t, testSite(f, false), "GET", "/api/v1/entries", "", "Accept-Encoding: gzip;q=0, br")
	small := call(t, testSite(f, false), "GET", "/api/v1/entries", "", "Accept-Encoding: br, gzip")
	if small.Header().Get("Content-Encoding") != "gzip" || plain.Header().Get("Content-Encoding") != "" {
		t.Fatalf("%v, %v", plain.Header(), small.Header())
	}
	z, err := gzip.NewReader(small.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil || len(text) != plain.Body.Len() {
		t.Errorf("%d of %d bytes, %v", len(text), plain.Body.Len(), err)
	}
}

// TestPagesShowEverythingOnce walks all pages of histories with many entries
// in one second, whose order changes from query to query.
func TestPagesShowEverythingOnce(t *testing.T) {
	for name, age := range map[string]func(n int) time.Duration{
		"one a second":     func(n int) time.Duration { return time.Duration(n) * time.Second },
		"seven a second":   func(n int) time.Duration { return time.Duration(n/7) * time.Second },
		"ninety a second":  func(n int) time.Duration { return time.Duration(n/90) * time.Second },
		"all in a second":  func(int) time.Duration { return time.Second },
		"half in a second": func(n int) time.Duration { return time.Duration(max(0, n-90)) * time.Minute },
	} {
		for _, limit := range []string{"1", "10", "89", "180", "1000"} {
			t.Run(name+"/"+limit, func(t *testing.T) {
				f := newFake()
				for n := range 180 {
					f.entries = append(f.entries, entryAt(n, age(n)))
				}
				got := walk(t, testSite(f, false), "/api/v1/entries?since=7d&limit="+limit)
				want := slices.SortedFunc(slices.Values(f.entries), byID)
				slices.SortFunc(got, byID)
				if !slices.EqualFunc(got, want, func(a, b feedring.Entry) bool { return a.ID == b.ID }) {
					t.Errorf("%d entries came, not %d", len(got), len(want))
				}
			})
		}
	}
}

// walk reads all pages, and checks that they never go back in time.
func walk(t *testing.T, s *site, target string) (all []feedring.Entry) {
	t.Helper()
	for pages := 0; target != ""; pages++ {
		if pages > 400 {
			t.Fatal("the pages do not end")
		}
		w := call(t, s, "GET", target, "")
		var some []feedring.Entry
		if err := json.Unmarshal(w.Body.Bytes(), &some); err != nil {
			t.Fatalf("%v: %s", err, w.Body)
		}
		for _, e := range some {
			if len(all) > 0 && e.Published.After(all[len(all)-1].Published) {
				t.Fatalf("%s is newer than the one before", e.Title)
			}
			all = append(all, e)
		}
		target = nextPage(t, w.Header().Get("Link"))
	}
	return all
}

func nextPage(t *testing.T, link string) string {
	t.Helper()
	if link == "" {
		return ""
	}
	address, ok := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
	u, err := url.Parse(address)
	if !ok || err != nil || !strings.HasPrefix(address, "https://news.example/ring/api/v1/entries?") {
		t.Fatalf("link %q", link)
	}
	return strings.TrimPrefix(u.Path, "/ring") + "?" + u.RawQuery
}

// TestMoreThanAnAnswerInOneSecond shows that a second with more entries than
// one answer holds does not hide what is older.
func TestMoreThanAnAnswerInOneSecond(t *testing.T) {
	f := newFake()
	for n := range 1500 {
		f.entries = append(f.entries, entryAt(n, time.Second))
	}
	f.entries = append(f.entries, entryAt(1500, time.Hour))
	got := walk(t, testSite(f, false), "/api/v1/entries?limit=400")
	if len(got) < feedring.MaxLimit || got[len(got)-1].ID != f.entries[1500].ID {
		t.Errorf("%d entries, the last %s", len(got), got[len(got)-1].Title)
	}
}

func TestAtom(t *testing.T) {
	f := newFake()
	e := entryAt(1, time.Hour)
	e.Title, e.Summary, e.ContentHTML = "A <b> & \x00 title", "Sum & <more>", "<p>Hello &amp; ]]> good-bye</p>"
	e.Language, e.Tags, e.Updated = "fr", []string{"<tag>"}, testNow
	e.Attachments = []feedring.Attachment{{URL: "https://a.example/x.mp3", MIMEType: "audio/mpeg"}, {URL: "javascript:x"}}
	bare := feedring.Entry{ID: "odd id", Feed: "https://b.example/", Provider: "b.example", URL: "javascript:alert(1)", Published: testNow}
	f.entries = []feedring.Entry{e, bare}
	w := call(t, testSite(f, false), "GET", "/api/v1/entries.atom?q=caf%C3%A9&limit=2", "")
	if kind := w.Header().Get("Content-Type"); kind != "application/atom+xml; charset=utf-8" {
		t.Error(kind)
	}
	if strings.Contains(w.Body.String(), "javascript:") {
		t.Errorf("%s", w.Body)
	}
	var raw struct{}
	if err := xml.Unmarshal(w.Body.Bytes(), &raw); err != nil {
		t.Fatal(err)
	}
	feed, err := gofeed.NewParser().Parse(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	if feed.FeedType != "atom" || !strings.HasPrefix(feed.FeedLink, "https://news.example/ring/api/v1/entries.atom?") || feed.UpdatedParsed == nil ||
		feed.Title != "feedring · café" || len(feed.Items) != 2 {
		t.Fatalf("%+v", feed)
	}
	item := feed.Items[1]
	if item.Title != "A <b> &  title" || item.Content != "<p>Hello &amp; ]]&gt; good-bye</p>" || item.Link != e.URL || !item.UpdatedParsed.Equal(testNow) ||
		!item.PublishedParsed.Equal(e.Published) || len(item.Enclosures) != 1 || !strings.HasPrefix(item.GUID, "urn:uuid:") || item.Authors[0].Name != "a.example" {
		t.Errorf("%+v", item)
	}
	if other := feed.Items[0]; !strings.HasPrefix(other.GUID, "urn:uuid:") || other.Link != "" {
		t.Errorf("%+v", other)
	}
	if !strings.Contains(w.Header().Get("Link"), "entries.atom?") {
		t.Errorf("no next page: %v", w.Header())
	}
	f.entries = nil
	if feed, err = gofeed.NewParser().Parse(call(t, testSite(f, true), "GET", "/api/v1/entries.atom", "").Body); err != nil || len(feed.Items) != 0 {
		t.Errorf("an empty feed: %+v, %v", feed, err)
	}
}

func FuzzPage(f *testing.F) {
	f.Add((&page{second: 1772625600, shown: []mark{1, 2, 3}}).String())
	f.Add((&page{}).String())
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePage(text)
		if err != nil || p == nil {
			return
		}
		again, err := parsePage(p.String())
		if err != nil || again.second != p.second || !slices.Equal(again.shown, p.shown) {
			t.Fatalf("%+v is written %q and read %+v, %v", p, p.String(), again, err)
		}
		if q := p.narrow(feedring.Query{Limit: 50}); q.Limit < 1 || q.Limit > feedring.MaxLimit || q.Until.Year() > 10000 {
			t.Fatalf("%+v", q)
		}
	})
}

func FuzzQuery(f *testing.F) {
	f.Add("theme=news&provider=lemonde.fr&since=36h&until=1h&q=a+AND+(b+OR+%22c+d%22)&limit=10")
	f.Add("since=2026-01-02&until=2026-01-03T00:00:00%2B02:00")
	f.Add("q=%zz")
	f.Add("q=a&q=b;c")
	f.Fuzz(func(t *testing.T, raw string) {
		v, err := parseParameters(raw)
		if err != nil {
			return
		}
		q, err := parseQuery(v, testNow)
		if err != nil {
			if p := problemOf(err); p.Status != 400 || p.Detail == "" {
				t.Fatalf("%q: %+v", raw, p)
			}
			return
		}
		// What a Link says must mean the same, to the second.
		again, err := parseQuery(values(q), testNow.Add(time.Hour))
		q.Since, q.Until = q.Since.Truncate(time.Second), q.Until.Truncate(time.Second)
		if err == nil && again != q {
			t.Fatalf("%q: %+v, again %+v", raw, q, again)
		}
		if err != nil && q.Since.Before(q.Until) {
			t.Fatalf("%q: %+v: %v", raw, q, err)
		}
	})
}
