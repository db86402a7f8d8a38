package cache

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/mmcdole/gofeed"
)

const (
	testFeed = "https://www.a.example/rss/all.xml"
	testPath = "/f/a.example/rss/all.xml"
)

var testNow = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

type bench struct {
	*Cache
	t   *testing.T
	now time.Time
}

func open(t *testing.T, dir string) *bench {
	t.Helper()
	b := &bench{t: t, now: testNow}
	var err error
	if b.Cache, err = Open(Config{Dir: dir, Now: func() time.Time { return b.now }}); err != nil {
		t.Fatal(err)
	}
	return b
}

func rssOf(items ...string) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel><title>A</title>")
	for _, item := range items {
		fmt.Fprintf(&b, "\n<item><guid>%s</guid><title>%s</title><description>%s</description></item>", item, item, strings.Repeat("words of the entry ", 20))
	}
	return b.String() + "\n</channel></rss>"
}

func (b *bench) take(body string) {
	b.Take(testFeed, Fetched{Body: []byte(body), ContentType: "text/xml", At: b.now})
}

// ask asks for a path; headers come in pairs.
func (b *bench) ask(path string, headers ...string) (*httptest.ResponseRecorder, error) {
	req := httptest.NewRequest("GET", path, nil)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	return w, b.Answer(w, req, testHub)
}

func (b *bench) get(headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	w, err := b.ask(testPath, headers...)
	if err != nil {
		b.t.Fatal(err)
	}
	return w
}

func TestAnswer(t *testing.T) {
	b := open(t, t.TempDir())
	if path := b.Offer(testFeed, "a.example"); path != testPath {
		t.Fatal(path)
	}
	if _, err := b.ask(testPath); !errors.Is(err, ErrNotYet) {
		t.Errorf("before the first look: %v", err)
	}
	if _, err := b.ask("/f/a.example/other"); !errors.Is(err, ErrUnknown) {
		t.Errorf("another: %v", err)
	}
	b.take(rssOf("1", "2"))
	b.Plan(testFeed, b.now.Add(7*time.Minute))
	w := b.get()
	for name, want := range map[string]string{
		"Content-Type": "application/rss+xml; charset=utf-8", "Vary": "Accept-Encoding, A-IM",
		"Last-Modified": "Wed, 04 Mar 2026 12:00:00 GMT", "Cache-Control": "public, max-age=420, stale-if-error=86400",
		"Link": "<" + testFeed + `>; rel="self", <` + testHub + `>; rel="hub"`,
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if w.Code != 200 || w.Header().Get("Etag") == "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	want := strings.Replace(rssOf("1", "2"), "<channel>", `<channel><atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="hub" href="`+testHub+`"/>`+
		`<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="self" href="`+testFeed+`" type="application/rss+xml"/>`, 1)
	if w.Body.String() != want {
		t.Errorf("body %s", w.Body)
	}
	for _, tt := range []struct {
		accept, coding string
		read           func(io.Reader) (io.Reader, error)
	}{
		{"gzip", "gzip", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
		{"gzip, deflate, br", "br", func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }},
	} {
		w := b.get("Accept-Encoding", tt.accept)
		r, err := tt.read(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil || string(body) != want || w.Header().Get("Content-Encoding") != tt.coding {
			t.Errorf("%s: %v, %v", tt.accept, err, w.Header())
		}
	}
}

func TestNothingIsCompressedTwice(t *testing.T) {
	b := open(t, t.TempDir())
	b.Offer(testFeed, "a.example")
	b.take(rssOf("1"))
	b.get()
	h := b.held(testFeed)
	first, _ := b.ready(h, testHub)
	b.get("Accept-Encoding", "gzip")
	if again, _ := b.ready(h, testHub); again != first {
		t.Error("made ready again")
	}
	b.take(rssOf("1", "2"))
	if next, _ := b.ready(h, testHub); next == first {
		t.Error("the version before is still given")
	}
}

func TestChoose(t *testing.T) {
	for accept, want := range map[string]coding{
		"": identity, "gzip": gzipped, "br": brotlied, "gzip, br": brotlied, "br;q=0.5, gzip": gzipped, "gzip;q=0": identity,
		"*": brotlied, "br;q=0, *": gzipped, "deflate": identity, "GZIP ; q=1.0": gzipped, "identity, gzip;q=0.5": identity,
		"gzip;q=x": identity, "x-gzip": gzipped,
	} {
		if got := choose([]string{accept}); got != want {
			t.Errorf("%q: %v", accept, got)
		}
	}
}

func TestConditions(t *testing.T) {
	b := open(t, t.TempDir())
	b.Offer(testFeed, "a.example")
	b.take(rssOf("1"))
	tag := b.get().Header().Get("Etag")
	zipped := b.get("Accept-Encoding", "gzip").Header().Get("Etag")
	if tag == zipped {
		t.Error("other bytes have the same tag")
	}
	const at = "Wed, 04 Mar 2026 12:00:00 GMT"
	for _, tt := range []struct {
		name    string
		headers []string
		want    int
	}{
		{"same", []string{"If-None-Match", tag}, 304},
		{"weak", []string{"If-None-Match", "W/" + tag}, 304},
		{"of another coding", []string{"If-None-Match", zipped}, 304},
		{"in a list", []string{"If-None-Match", `"x", W/` + tag}, 304},
		{"in a second header", []string{"If-None-Match", `"x"`, "If-None-Match", tag}, 304},
		{"any", []string{"If-None-Match", "*"}, 304},
		{"other", []string{"If-None-Match", `"x"`}, 200},
		{"longer", []string{"If-None-Match", strings.TrimSuffix(tag, `"`) + `x"`}, 200},
		{"other tag, same date", []string{"If-None-Match", `"x"`, "If-Modified-Since", at}, 200},
		{"same tag, old date", []string{"If-None-Match", tag, "If-Modified-Since", "Wed, 04 Mar 2020 12:00:00 GMT"}, 304},
		{"same date", []string{"If-Modified-Since", at}, 304},
		{"later date", []string{"If-Modified-Since", "Wed, 04 Mar 2026 12:00:01 GMT"}, 304},
		{"earlier date", []string{"If-Modified-Since", "Wed, 04 Mar 2026 11:59:59 GMT"}, 200},
		{"old form of date", []string{"If-Modified-Since", "Wednesday, 04-Mar-26 12:00:00 GMT"}, 304},
		{"no date", []string{"If-Modified-Since", "yesterday"}, 200},
	} {
		w := b.get(tt.headers...)
		if w.Code != tt.want || w.Header().Get("Etag") != tag {
			t.Errorf("%s: %d %v", tt.name, w.Code, w.Header())
		}
		if w.Code == 304 && (w.Body.Len() > 0 || w.Header().Get("Content-Type") != "" || w.Header().Get("Vary") == "") {
			t.Errorf("%s: %v %d", tt.name, w.Header(), w.Body.Len())
		}
	}
	b.take(rssOf("1", "2")) // within the same second
	for _, header := range [][]string{{"If-None-Match", tag}, {"If-Modified-Since", at}} {
		if w := b.get(header...); w.Code != 200 {
			t.Errorf("%v after a change: %d", header, w.Code)
		}
	}
	full := Answers[answeredFull]
	if c := b.Counts(); full != "whole" || c[answeredUnchanged] != 10 {
		t.Errorf("counts %v", c)
	}
}

func TestDeltas(t *testing.T) {
	b := open(t, t.TempDir())
	b.Offer(testFeed, "a.example")
	b.take(rssOf("1", "2", "3"))
	first := b.get("Accept-Encoding", "gzip").Header().Get("Etag")
	b.take(strings.Replace(rssOf("1", "2", "3", "4"), "<title>2</title>", "<title>two</title>", 1))
	w := b.get("If-None-Match", first, "A-IM", "feed", "Accept-Encoding", "gzip")
	if w.Code != http.StatusIMUsed || w.Header().Get("IM") != "feed" || w.Header().Get("Etag") == first ||
		w.Header().Get("Etag") != b.get("Accept-Encoding", "gzip").Header().Get("Etag") {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	z, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	feed, err := gofeed.NewParser().Parse(z)
	if err != nil || len(feed.Items) != 2 || feed.Items[0].Title != "two" || feed.Items[1].Title != "4" {
		t.Errorf("%v %v", feed, err)
	}
	for name, headers := range map[string][]string{
		"no delta asked for":  {"If-None-Match", first},
		"other manipulations": {"If-None-Match", first, "A-IM", "vcdiff, feed;q=0"},
		"unknown version":     {"If-None-Match", `"x.y"`, "A-IM", "feed"},
		"no version":          {"A-IM", "feed"},
	} {
		if w := b.get(headers...); w.Code != 200 || w.Header().Get("IM") != "" {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	if w := b.get("If-None-Match", b.get().Header().Get("Etag"), "A-IM", "feed"); w.Code != 304 {
		t.Errorf("same version: %d", w.Code)
	}
	for i := range maxPast {
		b.take(rssOf(fmt.Sprint("new", i)))
	}
	if w := b.get("If-None-Match", first, "A-IM", "feed"); w.Code != 200 {
		t.Errorf("a version long ago: %d", w.Code)
	}
}

// TestRestart: the first answer after a restart needs no origin, deltas go on,
// and a file that is no good is not believed.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	b.Offer(testFeed, "a.example")
	b.take(rssOf("1"))
	old := b.get().Header().Get("Etag")
	b.take(rssOf("1", "2"))
	before := b.get("Accept-Encoding", "br")

	b = open(t, dir)
	b.Offer(testFeed, "a.example")
	b.Tidy()
	if b.held(testFeed).doc.Load() == nil {
		t.Fatal("nothing was kept")
	}
	after := b.get("Accept-Encoding", "br")
	if !bytes.Equal(before.Body.Bytes(), after.Body.Bytes()) || before.Header().Get("Etag") != after.Header().Get("Etag") ||
		before.Header().Get("Last-Modified") != after.Header().Get("Last-Modified") {
		t.Errorf("%v, then %v", before.Header(), after.Header())
	}
	if w := b.get("A-IM", "feed", "If-None-Match", old); w.Code != http.StatusIMUsed {
		t.Errorf("delta: %d", w.Code)
	}

	name := b.file(testFeed)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for damage, text := range map[string][]byte{
		"half":    text[:len(text)-20],
		"no head": text[20:],
		"empty":   nil,
		"other":   append([]byte(`{"feed":"x","tag":"y"}`+"\n"), text...),
	} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		b = open(t, dir)
		b.Offer(testFeed, "a.example")
		if _, err := b.ask(testPath); !errors.Is(err, ErrNotYet) {
			t.Errorf("%s: %v", damage, err)
		}
		b.take(rssOf("1", "2"))
		if w := b.get(); w.Code != 200 || !strings.Contains(w.Body.String(), "<guid>2") {
			t.Errorf("%s: %d", damage, w.Code)
		}
	}
}

func TestWhatIsNotOfferedIsNotKept(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	b.take(rssOf("1"))
	b.Offer(testFeed, "a.example")
	b.take(rssOf("1"))
	b = open(t, dir)
	b.Tidy()
	b.Offer(testFeed, "a.example")
	if b.held(testFeed).doc.Load() != nil {
		t.Error("kept without being offered")
	}
	b.take(rssOf("1"))
	b.Withdraw(testFeed)
	if _, err := b.ask(testPath); !errors.Is(err, ErrUnknown) {
		t.Errorf("withdrawn: %v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("%d files are left", len(files))
	}
}

func TestAddresses(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	const other = "http://feeds.a.example/rss/all.xml"
	for _, tt := range []struct{ feed, want string }{
		{"https://a.example/", "/f/a.example/"},
		{"https://a.example/feed/", "/f/a.example/feed/"},
		{"https://a.example//x/../b%2Fc%20d", "/f/a.example/b%2Fc%20d"},
		{"https://a.example/?feed=rss2&x=%41", "/f/a.example/?feed=rss2&x=%41"},
		{testFeed, testPath},
	} {
		if got := b.Offer(tt.feed, "a.example"); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.feed, got, tt.want)
		}
		b.Take(tt.feed, Fetched{Body: []byte(rssOf(tt.feed)), At: testNow})
		if w, err := b.ask(tt.want); err != nil || !strings.Contains(w.Body.String(), "<item>") {
			t.Errorf("%s: %v", tt.want, err)
		}
	}
	if w, err := b.ask(testPath + "?utm_source=x"); err != nil || w.Code != 200 {
		t.Errorf("a query that means nothing: %v", err)
	}
	second := b.Offer(other, "a.example")
	if second == testPath || !strings.HasPrefix(second, testPath+"~") {
		t.Errorf("two feeds have %s", second)
	}
	// The first one keeps its address, whoever is offered first after a restart.
	b = open(t, dir)
	if got := b.Offer(other, "a.example"); got != second {
		t.Errorf("after a restart %s", got)
	}
	if got := b.Offer(testFeed, "a.example"); got != testPath {
		t.Errorf("after a restart %s", got)
	}
}

func TestFeedsByWhatTheyAreCalled(t *testing.T) {
	b := open(t, t.TempDir())
	b.Offer(testFeed, "a.example")
	b.take(strings.Replace(rssOf("1"), "<title>A", `<a:link xmlns:a="http://www.w3.org/2005/Atom" rel="self" href="https://a.example/feed"/><title>A`, 1))
	for self, want := range map[string]bool{"https://a.example/feed": true, testFeed: false, "": false} {
		if feed, ok := b.Named(self); ok != want || ok && feed != testFeed {
			t.Errorf("%q: %q %t", self, feed, ok)
		}
	}
	if feed, ok := b.Feed(testPath); !ok || feed != testFeed {
		t.Errorf("%q %t", feed, ok)
	}
	w := b.get()
	if !strings.Contains(w.Body.String(), `rel="hub"`) || strings.Contains(w.Body.String(), testFeed) ||
		!strings.HasPrefix(w.Header().Get("Link"), `<https://a.example/feed>; rel="self", `) {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
}

// TestPollersWhileVersionsCome: every answer is one version whole.
func TestPollersWhileVersionsCome(t *testing.T) {
	b := open(t, t.TempDir())
	b.Offer(testFeed, "a.example")
	b.take(rssOf("0"))
	done := make(chan struct{})
	var pollers sync.WaitGroup
	for range 4 {
		pollers.Go(func() {
			had := ""
			for {
				select {
				case <-done:
					return
				default:
				}
				w, err := b.ask(testPath, "A-IM", "feed", "If-None-Match", had)
				if err != nil {
					t.Error(err)
					return
				}
				if w.Code == 200 && !strings.HasSuffix(w.Body.String(), "</rss>") {
					t.Errorf("%d: %q", w.Code, w.Body)
				}
				had = w.Header().Get("Etag")
			}
		})
	}
	for i := range 30 {
		b.take(rssOf("0", fmt.Sprint(i)))
	}
	close(done)
	pollers.Wait()
}

func TestAFullDiskKeepsTheDocumentInMemory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	b := open(t, dir)
	b.Offer(testFeed, "a.example")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	b.take(rssOf("1"))
	b.made = newLRU(0)
	if w := b.get(); w.Code != 200 {
		t.Error(w.Code)
	}
}

// TestAFeedThatMoved keeps its path and has a second one; its document names where
// it is now, and a feed of that very address goes before it.
func TestAFeedThatMoved(t *testing.T) {
	const now = "https://new.example/rss"
	b := open(t, t.TempDir())
	b.Offer(testFeed, "a.example")
	b.take(rssOf("1"))
	b.Present(testFeed, testFeed)
	before := b.get().Header().Get("Etag")
	b.Present(testFeed, now)
	for _, path := range []string{testPath, "/f/a.example/rss"} {
		w, err := b.ask(path)
		if err != nil || !strings.Contains(w.Body.String(), `rel="self" href="`+now+`"`) || w.Header().Get("Etag") == before {
			t.Errorf("%s: %v", path, err)
		}
	}
	if feed, ok := b.Named(now); !ok || feed != testFeed {
		t.Errorf("named %q", feed)
	}
	if path := b.Offer("https://x.example/rss", "a.example"); path != "/f/a.example/rss" {
		t.Errorf("a feed of that path is at %s", path)
	}
	if _, err := b.ask("/f/a.example/rss"); !errors.Is(err, ErrNotYet) {
		t.Errorf("and is answered %v", err)
	}
	b.Withdraw("https://x.example/rss")
	b.Present(testFeed, "https://a.example/feed")
	if _, err := b.ask("/f/a.example/rss"); !errors.Is(err, ErrUnknown) {
		t.Errorf("where it was in between: %v", err)
	}
	b.Withdraw(testFeed)
	if _, err := b.ask("/f/a.example/feed"); !errors.Is(err, ErrUnknown) {
		t.Errorf("withdrawn: %v", err)
	}
}

// TestKeep: what is shown is served at once, and is there after a restart when it was
// kept.
func TestKeep(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	b.Offer(testFeed, "a.example")
	b.Show(testFeed, Fetched{Body: []byte(rssOf("1")), ContentType: "text/xml", At: b.now})
	for range 2 { // the second time nothing is left to do
		if body := b.get().Body.String(); !strings.Contains(body, "<guid>1<") {
			t.Errorf("served:\n%s", body)
		}
		again := open(t, dir)
		again.Offer(testFeed, "a.example")
		if kept := b.held(testFeed).doc.Load().body == nil; again.Has(testFeed) != kept {
			t.Errorf("kept: %t; after a restart: %t", kept, again.Has(testFeed))
		}
		b.Keep(testFeed)
	}
	if b.held(testFeed).doc.Load().body != nil {
		t.Error("it is still in memory")
	}
	b.Keep("https://other.example/") // no feed of its
}
