package integration

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// everyLoopback is an origin at all of 127.0.0.0/8.
func everyLoopback(t *testing.T) *origin {
	t.Helper()
	o := &origin{docs: make(map[string]http.HandlerFunc), count: make(map[string]map[int]int)}
	o.Server = httptest.NewUnstartedServer(o)
	_ = o.Listener.Close()
	all, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	o.Listener = all
	o.Start()
	o.URL = fmt.Sprintf("http://127.0.0.1:%d", all.Addr().(*net.TCPAddr).Port)
	t.Cleanup(func() {
		o.CloseClientConnections()
		o.Close()
	})
	return o
}

// TestAddingWhatIsNoFeed adds addresses that lead to no feed: each is refused in
// one line that says why and what to do, unless it is forced. What is busy or late
// is added with a warning.
func TestAddingWhatIsNoFeed(t *testing.T) {
	t.Parallel()
	o := everyLoopback(t)
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	body := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
	}
	const closed = "127.0.0.1:1" // a free one may be another test's a moment later
	n := newNetwork(t, "500ms", "--interval", "0s")
	p := n.peer(nil)
	host := 1
	for what, c := range map[string]struct{ url, refused, warned string }{
		"404":                {url: o.serve("missing", status(404)), refused: "404: the origin has no such feed"},
		"410":                {url: o.serve("gone", status(410)), refused: "410"},
		"a refused port":     {url: "http://" + closed + "/feed", refused: "connection refused"},
		"no such name":       {url: "http://nobody.invalid/feed", refused: "no such host"},
		"an empty page":      {url: o.serve("empty", body("")), refused: "empty"},
		"a page":             {url: o.serve("page", body("<html><title>Hello</title>")), refused: `an HTML page titled "Hello" and names no feed`},
		"a PDF file":         {url: o.serve("pdf", body("%PDF-1.7")), refused: "a PDF file"},
		"429":                {url: o.serve("limited", status(429)), warned: "429"},
		"503":                {url: o.serve("away", status(503)), warned: "503"},
		"a time-out":         {url: o.serve("late", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), warned: "not answered yet"},
		"a feed":             {url: o.feed(newFeed("good", 1))},
		"a feed of no entry": {url: o.feed(newFeed("blank", 0))},
	} {
		t.Run(what, func(t *testing.T) {
			if strings.HasPrefix(c.url, o.URL) { // each of a host of its own: one that asks for fewer requests is left alone
				host++
				c.url = strings.Replace(c.url, "127.0.0.1", fmt.Sprint("127.0.0.", host), 1)
			}
			r := command(t, "feed", "add", "--data", p.data, c.url)
			if c.refused == "" {
				if r.code != 0 || !strings.Contains(r.stdout, "added "+c.url) || (c.warned == "") != (r.stderr == "") || !strings.Contains(r.stderr, c.warned) {
					t.Fatalf("%v", r)
				}
				return
			}
			if r.code != 1 || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, c.refused) || !strings.Contains(r.stderr, "--force") {
				t.Fatalf("%v", r)
			}
			if listed := command(t, "feed", "list", "--json", "--data", p.data); strings.Contains(listed.stdout, `"`+c.url+`"`) {
				t.Errorf("it is there all the same: %v", listed)
			}
			if a := call(t, p, "POST", "/api/v1/feeds", fmt.Sprintf(`{"url":%q}`, c.url), p.token(t)); a.code != 422 ||
				!strings.HasPrefix(a.header.Get("Content-Type"), "application/problem+json") || !strings.Contains(strings.ReplaceAll(string(a.body), `\"`, `"`), c.refused) {
				t.Errorf("the API: %d %s", a.code, a.body)
			}
			if r := command(t, "feed", "add", "--force", "--data", p.data, c.url); r.code != 0 || !strings.Contains(r.stdout, "added "+c.url) {
				t.Errorf("--force: %v", r)
			}
		})
	}
}

// TestImportLooksFirst: an import names what is no feed, adds what is late with a
// warning, and takes no longer for many that do not answer at all.
func TestImportLooksFirst(t *testing.T) {
	t.Parallel()
	o := everyLoopback(t)
	late := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	var list strings.Builder
	outline := func(host int, name string) string {
		url := fmt.Sprintf("%s/%s", strings.Replace(o.URL, "127.0.0.1", fmt.Sprintf("127.1.%d.%d", host/200, 1+host%200), 1), name)
		fmt.Fprintf(&list, `<outline type="rss" xmlUrl="%s"/>`, url)
		return url
	}
	o.feed(newFeed("good", 2))
	o.serve("late", late)
	o.serve("away", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	good, missing, away := outline(0, "good"), outline(1, "missing"), outline(2, "away")
	const silent = 300
	for i := range silent {
		outline(3+i, "late")
	}
	file := filepath.Join(t.TempDir(), "list.opml")
	if err := os.WriteFile(file, []byte(`<opml version="2.0"><body>`+list.String()+`</body></opml>`), 0o600); err != nil {
		t.Fatal(err)
	}
	n := newNetwork(t, "500ms", "--interval", "0s")
	p := n.peer(nil)
	r := command(t, "opml", "import", "--data", p.data, file)
	if r.code != 1 || !strings.Contains(r.stdout, fmt.Sprintf("added %d of %d feeds; 0 were there already, 1 were refused", silent+2, silent+3)) {
		t.Errorf("%v", r)
	}
	for _, part := range []string{"refused: " + missing + ": 404", "warning: " + away + ": 503", "not answered yet", "or add all with --force"} {
		if !strings.Contains(r.stderr, part) {
			t.Errorf("no %q in %v", part, r)
		}
	}
	if !strings.Contains(r.stdout, "were not fetched yet") || r.took > 10*time.Second {
		t.Errorf("%d addresses that do not answer take %s: %v", silent, r.took, r)
	}
	until(t, 10*time.Second, "the good feed", func() bool {
		return len(command(t, "query", "--json", "--data", p.data, "good").entries()) == 2
	})
	if hits := o.hits("good", 0); hits != 1 {
		t.Errorf("%s was asked %d times", good, hits)
	}
	if r := command(t, "opml", "import", "--force", "--data", p.data, file); r.code != 0 || !strings.Contains(r.stdout, "added 1 of") {
		t.Errorf("--force: %v", r)
	}
}

// TestFeedTables: a feed that is a table of the configuration file is read from its
// file, and shares what the table says.
func TestFeedTables(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	dir := t.TempDir()
	file, config := filepath.Join(dir, "feed.xml"), filepath.Join(dir, "feedring.toml")
	if err := os.WriteFile(file, newFeed("local", 2).render(), 0o600); err != nil {
		t.Fatal(err)
	}
	site := o.URL + "/nothing-is-there"
	text := fmt.Sprintf("feed = [%q]\n\n[[feeds]]\ntheme = \"news\"\nurl = %q\nfile = %q\nshare = \"title\"\n",
		"sport=plain@"+o.feed(newFeed("plain", 1)), site, file)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	n := newNetwork(t, "500ms", "--config", config)
	p := n.peer(nil)
	until(t, 20*time.Second, "the file's entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == 2 })
	for _, e := range n.query(p, "--theme", "news").entries() {
		if e.str("title") == "" || e["summary"] != nil || e["content_html"] != nil {
			t.Errorf("more than the title is shared: %v", e)
		}
	}
	until(t, 20*time.Second, "the plain feed beside it", func() bool { return len(n.query(p, "--theme", "sport").entries()) == 1 })
	if o.hits("nothing-is-there", 0) != 0 {
		t.Error("the address was asked for")
	}
	if r := command(t, "feed", "remove", "--data", p.data, site); r.code != 1 || !strings.Contains(r.stderr, "configuration file") {
		t.Errorf("feed remove: %v", r)
	}
}
