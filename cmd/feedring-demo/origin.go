package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"html"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/render"
)

const (
	firstItems = 4  // of each feed when the origin starts
	keptItems  = 12 // in a feed, the newest
)

//go:embed papers.toml
var bundled []byte

// paper is one feed: what it is called and what it has to tell.
type paper struct {
	Name            string // in its addresses
	Peer            int    // that publishes it, from 1
	Theme           feedring.Theme
	Language, Title string
	Form            string      // rss, atom, json
	Articles        [][2]string // titles and texts
}

// provider is the label of the feed: a host would not be borne out on loopback.
func (p *paper) provider() string { return p.Name }

func readPapers(text []byte) ([]*paper, error) {
	var read struct{ Papers []*paper }
	return read.Papers, toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&read)
}

// origin is the web server of all papers.
type origin struct {
	base   string
	papers []*paper
	server *http.Server

	mu    sync.Mutex
	turn  int                         // whose turn it is to publish
	items map[string][]feedring.Entry // all of them by the paper, oldest first
	sent  map[string]time.Time
}

// openOrigin serves the bundled papers on a free port of loopback, with their
// first items, published before now.
func openOrigin(now time.Time) (*origin, error) {
	papers, err := readPapers(bundled)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	o := &origin{base: "http://" + listener.Addr().String(), papers: papers, items: make(map[string][]feedring.Entry), sent: make(map[string]time.Time)}
	for i, p := range papers {
		for n := firstItems; n > 0; n-- {
			o.add(p, now.Add(-time.Duration(n*41+i*7)*time.Minute))
		}
	}
	o.server = &http.Server{Handler: o, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = o.server.Serve(listener) }() // ends when the server is closed
	return o, nil
}

// publish publishes the next article of the paper whose turn it is.
func (o *origin) publish(now time.Time) feedring.Entry {
	o.mu.Lock()
	defer o.mu.Unlock()
	// Five and the number of papers share no factor, so all come, mixed.
	p := o.papers[o.turn*5%len(o.papers)]
	o.turn++
	return o.add(p, now)
}

// add publishes a paper's next article. When it has told all, the first comes
// again as a new one.
func (o *origin) add(p *paper, now time.Time) feedring.Entry {
	before := len(o.items[p.Name])
	from := p.Articles[before%len(p.Articles)]
	e := feedring.Entry{
		ID: feedring.EntryID(fmt.Sprint(before + 1)), Feed: p.provider(), Provider: feedring.Provider(p.provider()),
		URL: fmt.Sprintf("%s/%s/%d", o.base, p.Name, before+1), Title: from[0], ContentHTML: "<p>" + html.EscapeString(from[1]) + "</p>",
		Language: p.Language, Published: now,
	}
	if again := before / len(p.Articles); again > 0 {
		e.Title = fmt.Sprintf("%s (%d)", e.Title, again+1)
	}
	o.items[p.Name] = append(o.items[p.Name], e)
	o.sent[e.URL] = now
	return e
}

// publishedAt tells when the item at url was published.
func (o *origin) publishedAt(url string) (time.Time, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at, ok := o.sent[url]
	return at, ok
}

// ServeHTTP serves feeds as /NAME, and articles as /NAME/NUMBER.
func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, file, isArticle := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	number, _ := strconv.Atoi(file)
	o.mu.Lock()
	items := o.items[name]
	o.mu.Unlock()
	switch {
	case !isArticle && len(items) > 0:
		p := o.papers[slices.IndexFunc(o.papers, func(p *paper) bool { return p.Name == name })]
		items = slices.Clone(items[max(0, len(items)-keptItems):])
		slices.Reverse(items)
		form, _ := render.ParseFormat(p.Form)
		var b bytes.Buffer
		_ = render.Write(&b, form, &render.Feed{ID: p.provider(), Title: p.Title, Self: o.base + r.URL.Path, Updated: items[0].Published, Entries: items})
		w.Header().Set("Content-Type", form.ContentType())
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(b.Bytes())))
		http.ServeContent(w, r, "", items[0].Published, bytes.NewReader(b.Bytes()))
	case 0 < number && number <= len(items):
		e := items[number-1]
		fmt.Fprintf(w, "<!doctype html><html lang=%q><meta charset=\"utf-8\"><title>%[2]s</title><h1>%[2]s</h1>%s</html>\n",
			e.Language, html.EscapeString(e.Title), e.ContentHTML)
	default:
		http.NotFound(w, r)
	}
}
