package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// special are titles that readers have shown wrong.
var special = []string{`Été à l’œil – «oui»`, `5 < 6 & 7 > 6`, `&amp; as written, "quoted" 'twice'`, `日本語 😀 עברית`, `]]> <!-- end`}

// front stands between a reader and a peer, and counts answers.
func front(t testing.TB, p *peer) *origin {
	to, err := url.Parse(p.http)
	must(t, err)
	o := &origin{docs: make(map[string]http.HandlerFunc), count: make(map[string]map[int]int)}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }} // with the peer's own Host
	o.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.serve(strings.TrimPrefix(r.URL.Path, "/"), proxy.ServeHTTP)
		o.ServeHTTP(w, r)
	}))
	o.Start()
	t.Cleanup(o.Close)
	return o
}

// python runs a program in whichever Python has a module, and reads the JSON
// that it prints.
func python(t testing.TB, module, program string, into any, args ...string) {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import "+module).Run() != nil {
			continue
		}
		out, err := exec.Command(name, append([]string{"-c", program}, args...)...).Output()
		if err == nil {
			err = json.Unmarshal(out, into)
		}
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		return
	}
	lacking(t, "readers", "there is no Python with the module %s (Debian's python3-%[1]s)", module)
}

// parsed is what feedparser makes of an address.
type parsed struct {
	Status           int
	Bozo             bool
	Version          string
	ETag, Modified   string
	Titles, IDs      []string
	Links            map[string]string
	Content, Summary []string
}

const feedparserProgram = `
import feedparser, json, sys
d = feedparser.parse(sys.argv[1], etag=sys.argv[2] or None, modified=sys.argv[3] or None)
print(json.dumps({
  "Status": d.get("status", 0), "Bozo": bool(d.bozo), "Version": d.version, "ETag": d.get("etag", ""), "Modified": d.get("modified", ""),
  "Titles": [e.title for e in d.entries], "IDs": [e.id for e in d.entries],
  "Content": [e.content[0].value if "content" in e else "" for e in d.entries], "Summary": [e.get("summary", "") for e in d.entries],
  "Links": {l.rel: l.href for l in d.feed.get("links", [])},
}))`

func feedparser(t testing.TB, address, etag, modified string) (p parsed) {
	t.Helper()
	python(t, "feedparser", feedparserProgram, &p, address, etag, modified)
	return p
}

// newsboat is a reader that polls one address, with what it keeps. It takes
// entries of one id for one, in whichever feeds they are.
type newsboat struct {
	t   testing.TB
	dir string
}

func newNewsboat(t testing.TB, address string) *newsboat {
	if _, err := exec.LookPath("newsboat"); err != nil {
		lacking(t, "readers", "newsboat is not installed (Debian's package of that name)")
	}
	n := &newsboat{t: t, dir: t.TempDir()}
	must(t, os.WriteFile(filepath.Join(n.dir, "urls"), []byte(address+"\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(n.dir, "config"), nil, 0o600))
	return n
}

// reload polls, as somebody who presses its key.
func (n *newsboat) reload() {
	n.t.Helper()
	at := func(name string) string { return filepath.Join(n.dir, name) }
	cmd := exec.Command("newsboat", "-u", at("urls"), "-c", at("cache.db"), "-C", at("config"), "-x", "reload")
	cmd.Env = append(os.Environ(), "HOME="+n.dir, "LC_ALL=C.UTF-8", "http_proxy=", "no_proxy=*")
	if out, err := cmd.CombinedOutput(); err != nil {
		n.t.Fatalf("newsboat: %v: %s", err, out)
	}
}

// titles are what it shows, the newest first.
func (n *newsboat) titles() (titles []string) {
	n.t.Helper()
	python(n.t, "sqlite3", `
import sqlite3, json, sys
rows = sqlite3.connect(sys.argv[1]).execute("SELECT title FROM rss_item WHERE deleted = 0 ORDER BY pubDate DESC")
print(json.dumps([r[0] for r in rows]))`, &titles, filepath.Join(n.dir, "cache.db"))
	return titles
}

// TestReaders has programs that other people read feeds with poll personal
// feeds: what they are shown, in which order, and that they are told when
// nothing is new and when an address was revoked.
func TestReaders(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	f := newFeed("news", 0)
	for i, title := range special {
		f.add(title, "<p>Text of <b>"+strings.Repeat("it", i)+"</b></p>", time.Now().Add(time.Duration(i-10)*time.Hour))
	}
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=news@"+o.feed(f))
	until(t, 20*time.Second, "entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == len(special) })
	var want []string // markup in titles went when they were fetched
	for _, e := range n.query(p, "--theme", "news").entries() {
		want = append(want, e.str("title"))
	}
	r := command(t, "subscription", "add", "--json", "--data", p.data, "--theme", "news")
	if r.code != 0 {
		t.Fatal(r)
	}
	until(t, 5*time.Second, "the end of the second in which it changed", func() bool {
		at := fetch(t, r.objects[0].str("atom")).header.Get("Last-Modified")
		return fetch(t, r.objects[0].str("atom"), header("If-Modified-Since", at)).code == 304
	})
	gate := front(t, p)
	address := func(format string) string {
		at := r.objects[0].str(format)
		return gate.URL + at[strings.Index(at, "/feeds/"):]
	}
	t.Run("feedparser", func(t *testing.T) { readByFeedparser(t, address, want, r.objects[0]) })
	t.Run("newsboat", func(t *testing.T) {
		readers := make(map[string]*newsboat)
		for _, format := range []string{"atom", "rss"} {
			reader, name := newNewsboat(t, address(format)), strings.TrimPrefix(address(format), gate.URL+"/")
			readers[format] = reader
			new, old := gate.hits(name, 200), gate.hits(name, 304)
			for range 3 { // of a feed that is new to it, it does not keep the validators
				reader.reload()
			}
			if got := reader.titles(); !slices.Equal(got, want) {
				t.Errorf("%s: it shows %q, not %q", format, got, want)
			}
			if new, old := gate.hits(name, 200)-new, gate.hits(name, 304)-old; new != 2 || old != 1 {
				t.Errorf("%s: it was given %d documents and told %d times that nothing is new", format, new, old)
			}
		}
		f.add("fresh", "x", time.Now().Add(-time.Minute))
		for format, reader := range readers {
			until(t, 20*time.Second, "fresh", func() bool { reader.reload(); return reader.titles()[0] == "fresh" })
			if got := reader.titles(); !slices.Equal(got[1:], want) {
				t.Errorf("%s: it shows %q", format, got)
			}
		}
	})
	if r := command(t, "subscription", "remove", r.objects[0].str("id"), "--data", p.data); r.code != 0 {
		t.Fatal(r)
	}
	t.Run("revoked", func(t *testing.T) {
		if p := feedparser(t, address("atom"), "", ""); p.Status != 404 || len(p.Titles) > 0 {
			t.Errorf("a revoked address: %+v", p)
		}
	})
}

func readByFeedparser(t *testing.T, address func(format string) string, want []string, told object) {
	for format, version := range map[string]string{"atom": "atom10", "rss": "rss20"} {
		p := feedparser(t, address(format), "", "")
		if p.Status != 200 || p.Bozo || p.Version != version || !slices.Equal(p.Titles, want) {
			t.Errorf("%s: it reads %+v, not %q", format, p, want)
		}
		if p.Links["self"] != told.str(format) {
			t.Errorf("%s: links %v", format, p.Links)
		}
		for i, text := range append(p.Content, p.Summary...) {
			if !strings.Contains(text, "Text of") {
				t.Errorf("%s: text %d is %q", format, i, text)
			}
		}
		for what, again := range map[string]parsed{
			"ETag": feedparser(t, address(format), p.ETag, ""), "Last-Modified": feedparser(t, address(format), "", p.Modified),
		} {
			if p.ETag == "" || p.Modified == "" || again.Status != 304 || len(again.Titles) > 0 {
				t.Errorf("%s by %s: %+v", format, what, again)
			}
		}
	}
}

// TestReaderWhileFeedsAreAdded has a reader poll a personal feed while feeds
// with a long history are added to the peer: it is shown all news, once.
func TestReaderWhileFeedsAreAdded(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	news := newFeed("news", 2)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=news@"+o.feed(news))
	until(t, 20*time.Second, "entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == 2 })
	r := command(t, "subscription", "add", "--json", "--data", p.data)
	if r.code != 0 {
		t.Fatal(r)
	}
	readers := make(map[string]*newsboat)
	for _, format := range []string{"atom", "rss"} {
		readers[format] = newNewsboat(t, r.objects[0].str(format))
		readers[format].reload()
	}
	told, polled := []string{"news story 1", "news story 0"}, time.Now()
	for i := range 4 {
		title := fmt.Sprintf("fresh %d", i)
		told = append(told, title)
		news.add(title, "x", time.Time{})
		until(t, 20*time.Second, title, func() bool { titles, _ := shown(t, r.objects[0].str("json")); return slices.Contains(titles, title) })
		addHistory(t, p, o, fmt.Sprintf("archive%d", i))
		// newsboat's libcurl drops a document whose Last-Modified, in seconds, is that of
		// the poll before: nobody polls twice in a second.
		until(t, 5*time.Second, "another second", func() bool { return time.Now().Unix() > polled.Unix() })
		for format, reader := range readers {
			reader.reload()
			got := reader.titles()
			if len(got) < len(told) {
				t.Fatalf("%s: it shows %q", format, got)
			}
			newest := slices.Clone(got[:len(told)])
			slices.Sort(newest) // news of one second are in no order
			if want := slices.Sorted(slices.Values(told)); !slices.Equal(newest, want) {
				t.Errorf("%s: the newest that it shows are %q, not %q", format, newest, want)
			}
			if all := slices.Sorted(slices.Values(got)); len(slices.Compact(all)) != len(got) {
				t.Errorf("%s: it shows something twice: %q", format, got)
			}
		}
		polled = time.Now()
	}
}

// oldFeed is an RSS document of so many entries of 2018.
func oldFeed(name string, entries int) []byte {
	var doc bytes.Buffer
	fmt.Fprintf(&doc, `<?xml version="1.0"?><rss version="2.0"><channel><title>%s</title><link>https://example.invalid/</link><description>x</description>`, name)
	for i := range entries {
		at := time.Date(2018, 12, 31, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -i).Format(time.RFC1123Z)
		fmt.Fprintf(&doc, `<item><title>%[1]s old %[2]d</title><guid isPermaLink="false">%[1]s-%[2]d</guid><link>https://example.invalid/%[1]s/%[2]d</link><pubDate>%[3]s</pubDate></item>`, name, i, at)
	}
	doc.WriteString("</channel></rss>")
	return doc.Bytes()
}

// addHistory has a peer read a feed of 60 old entries, and waits until it has them.
func addHistory(t testing.TB, p *peer, o *origin, name string) {
	t.Helper()
	doc := oldFeed(name, 60)
	url := o.bytes(name, "application/rss+xml", func() []byte { return doc })
	if r := command(t, "feed", "add", url, "--data", p.data); r.code != 0 {
		t.Fatal(r)
	}
	until(t, 20*time.Second, name+" read", func() bool {
		for _, f := range command(t, "feed", "list", "--json", "--data", p.data).objects {
			if f.str("url") == url {
				return f.num("entries") == 60
			}
		}
		return false
	})
}
