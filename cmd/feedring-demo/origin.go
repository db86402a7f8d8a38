package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	firstItems = 4  // of each feed when the origin starts
	keptItems  = 12 // in a feed, the newest
)

// item is an article as it was published: the same article comes again as a
// new item when a feed has told all that it has.
type item struct {
	paper     *paper
	number    int // from 1, in its feed
	title     string
	text      string
	url       string
	published time.Time
}

// origin is the web server of all papers.
type origin struct {
	base   string
	papers []*paper
	server *http.Server

	mu    sync.Mutex
	turn  int               // whose turn it is to publish
	items map[*paper][]item // all of them, oldest first
	sent  map[string]time.Time
}

// openOrigin serves the bundled papers on a free port of loopback.
func openOrigin() (*origin, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("origin: %w", err)
	}
	o, err := newOrigin("http://"+listener.Addr().String(), time.Now())
	if err != nil {
		_ = listener.Close()
		return nil, err
	}
	o.server = &http.Server{Handler: o, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = o.server.Serve(listener) }() // ends with close
	return o, nil
}

// newOrigin makes the papers' first items, published before now.
func newOrigin(base string, now time.Time) (*origin, error) {
	papers, err := readPapers()
	if err != nil {
		return nil, err
	}
	o := &origin{base: base, papers: papers, items: make(map[*paper][]item), sent: make(map[string]time.Time)}
	for i, p := range papers {
		for n := firstItems; n > 0; n-- {
			o.add(p, now.Add(-time.Duration(n*41+i*7)*time.Minute))
		}
	}
	return o, nil
}

func (o *origin) close() { _ = o.server.Close() }

// publish publishes the next article of the paper whose turn it is.
func (o *origin) publish(now time.Time) item {
	o.mu.Lock()
	defer o.mu.Unlock()
	// Five and the number of papers share no factor, so all come, mixed.
	p := o.papers[o.turn*5%len(o.papers)]
	o.turn++
	return o.add(p, now)
}

func (o *origin) add(p *paper, now time.Time) item {
	number := len(o.items[p]) + 1
	from := p.articles[(number-1)%len(p.articles)]
	it := item{
		paper: p, number: number, title: from.title, text: from.text,
		url: fmt.Sprintf("%s/%s/%d", o.base, p.name, number), published: now,
	}
	if again := (number - 1) / len(p.articles); again > 0 {
		it.title = fmt.Sprintf("%s (%d)", from.title, again+1)
	}
	o.items[p] = append(o.items[p], it)
	o.sent[it.url] = now
	return it
}

// publishedAt tells when the item at url was published.
func (o *origin) publishedAt(url string) (time.Time, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at, ok := o.sent[url]
	return at, ok
}

// ServeHTTP serves feeds as /NAME.xml or /NAME.json, and articles as
// /NAME/NUMBER.
func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	dir, file := path.Split(strings.TrimPrefix(r.URL.Path, "/"))
	for _, p := range o.papers {
		switch {
		case dir == "" && file == p.file():
			o.serveFeed(w, r, p)
			return
		case dir == p.name+"/":
			o.serveArticle(w, r, p, file)
			return
		}
	}
	http.NotFound(w, r)
}

func (o *origin) serveFeed(w http.ResponseWriter, r *http.Request, p *paper) {
	o.mu.Lock()
	items := o.items[p]
	o.mu.Unlock()
	items = items[max(0, len(items)-keptItems):]
	kind, body, err := render(p, o.base, items)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("ETag", fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(body))[:16]))
	http.ServeContent(w, r, "", items[len(items)-1].published, bytes.NewReader(body))
}

var articlePage = template.Must(template.New("").Parse(
	`<!doctype html><html lang="{{.Language}}"><meta charset="utf-8"><title>{{.Title}}</title><h1>{{.Title}}</h1><p>{{.Text}}</p></html>
`))

func (o *origin) serveArticle(w http.ResponseWriter, r *http.Request, p *paper, file string) {
	number, err := strconv.Atoi(file)
	o.mu.Lock()
	items := o.items[p]
	o.mu.Unlock()
	if err != nil || number < 1 || number > len(items) {
		http.NotFound(w, r)
		return
	}
	it := items[number-1]
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = articlePage.Execute(w, struct{ Language, Title, Text string }{p.language, it.title, it.text})
}
