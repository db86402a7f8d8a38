package integration

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// origin is a site: /NAME serves a feed, fixed bytes, or whatever a handler
// does. It counts requests.
type origin struct {
	*httptest.Server
	mu    sync.Mutex
	docs  map[string]http.HandlerFunc
	count map[string]map[int]int // by name and status
}

func newOrigin(t testing.TB) *origin {
	o := &origin{docs: make(map[string]http.HandlerFunc), count: make(map[string]map[int]int)}
	o.Server = httptest.NewServer(o)
	t.Cleanup(o.Close)
	return o
}

func (o *origin) serve(name string, h http.HandlerFunc) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.docs[name] = h
	return o.URL + "/" + name
}

// bytes serves a document as it is, with an ETag.
func (o *origin) bytes(name, contentType string, body func() []byte) string {
	return o.serve(name, func(w http.ResponseWriter, r *http.Request) {
		b := body()
		sum := sha256.Sum256(b)
		tag := `"` + hex.EncodeToString(sum[:8]) + `"`
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(b)
	})
}

// feed serves a feed that grows.
func (o *origin) feed(f *feed) string {
	return o.bytes(f.name, "application/rss+xml", f.render)
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	o.mu.Lock()
	h := o.docs[name]
	o.mu.Unlock()
	status := &statusWriter{ResponseWriter: w, code: http.StatusOK}
	if h == nil {
		h = http.NotFound
	}
	h(status, r)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.count[name] == nil {
		o.count[name] = make(map[int]int)
	}
	o.count[name][status.code]++
}

// hits returns the requests for a name, all or those with one status.
func (o *origin) hits(name string, code int) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for c, k := range o.count[name] {
		if code == 0 || c == code {
			n += k
		}
	}
	return n
}

type statusWriter struct {
	http.ResponseWriter
	code int
}

func (s *statusWriter) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

// Unwrap lets handlers flush and hijack.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// feed is an RSS document whose entries can be added to while it is served.
type feed struct {
	name  string
	mu    sync.Mutex
	all   []item
	names string // the href of a rel="feedring"; empty: none

	whole   bool // all entries are in the document, and not the newest 20
	undated bool // without their dates
}

type item struct {
	guid, title, body string
	at                time.Time
}

func newFeed(name string, stories int) *feed {
	f := &feed{name: name}
	for i := stories; i > 0; i-- {
		f.add(fmt.Sprintf("%s story %d", name, i-1), "about things", time.Now().Add(-time.Duration(i)*time.Hour))
	}
	return f
}

// add puts an entry on top; at zero is now.
func (f *feed) add(title, body string, at time.Time) {
	if at.IsZero() {
		at = time.Now()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append([]item{{fmt.Sprintf("%s-%d", f.name, len(f.all)), title, body, at}}, f.all...)
}

// vouch makes the feed name a peer itself.
func (f *feed) vouch(link string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.names = link
}

// change gives the entry with that title another body.
func (f *feed) change(title, body string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.all {
		if f.all[i].title == title {
			f.all[i].body = body
		}
	}
}

func (f *feed) render() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel><title>%s</title>`+
		`<link>https://example.invalid/</link><description>x</description>`, f.name)
	if f.names != "" {
		fmt.Fprintf(&b, `<link xmlns="http://www.w3.org/2005/Atom" rel="feedring" href="%s"/>`, escape(f.names))
	}
	most := 20
	if f.whole {
		most = len(f.all)
	}
	for _, it := range f.all[:min(len(f.all), most)] {
		date := "<pubDate>" + it.at.UTC().Format(time.RFC1123Z) + "</pubDate>"
		if f.undated {
			date = ""
		}
		fmt.Fprintf(&b, "<item><title>%s</title><guid isPermaLink=\"false\">%s</guid><link>https://example.invalid/%s</link>%s<description>%s</description></item>",
			escape(it.title), it.guid, it.guid, date, escape(it.body))
	}
	b.WriteString("</channel></rss>")
	return []byte(b.String())
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
