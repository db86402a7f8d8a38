package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// origin is a publisher's web server with feeds that grow.
type origin struct {
	*httptest.Server
	newest int // entries that a feed's document shows
	mu     sync.Mutex
	feeds  [][]string // items of each, the oldest first
}

// origin serves feeds of one entry each.
func (b *bench) origin(feeds, newest int) *origin {
	o := &origin{newest: newest, feeds: make([][]string, feeds)}
	for i := range feeds {
		o.add(i, "first", text(i))
	}
	o.Server = httptest.NewServer(o)
	b.closers = append(b.closers, o.CloseClientConnections, o.Close)
	return o
}

func path(feed int) string { return fmt.Sprintf("/feed%d.xml", feed) }

// add puts an entry on top of a feed.
func (o *origin) add(feed int, title, body string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.feeds[feed] = append(o.feeds[feed], fmt.Sprintf(`<item><title>%s</title><guid isPermaLink="false">%d-%d</guid><pubDate>%s</pubDate><description>%s</description></item>`,
		title, feed, len(o.feeds[feed]), time.Now().UTC().Format(time.RFC1123Z), body))
}

// count is how many entries all feeds have had.
func (o *origin) count() (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, items := range o.feeds {
		n += len(items)
	}
	return n
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for feed, items := range o.feeds {
		if r.URL.Path != path(feed) {
			continue
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, len(items)))
		w.Header().Set("Content-Type", "application/rss+xml")
		newest := slices.Clone(items[max(0, len(items)-o.newest):])
		slices.Reverse(newest)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(`<?xml version="1.0"?><rss version="2.0"><channel><title>compare</title>`+
			`<link>https://example.invalid/</link><description>x</description>`+strings.Join(newest, "")+"</channel></rss>"))
		return
	}
	http.NotFound(w, r)
}

var words = strings.Fields(`the of and to council minister city water energy price school report after before new old court game season team
bank market weather storm river bridge law vote party doctor patient study data model ocean forest fire road train port ship music film book`)

// text is a kilobyte of prose, another one for each n, which compresses as prose
// does.
func text(n int) string {
	const size = 1000
	var b strings.Builder
	for state := uint64(n)*2862933555777941757 + 1; b.Len() < size; {
		state = state*6364136223846793005 + 1442695040888963407
		b.WriteString(words[state>>33%uint64(len(words))])
		b.WriteByte(' ')
	}
	return b.String()[:size]
}
