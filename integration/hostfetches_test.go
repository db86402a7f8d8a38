package integration

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestNextFetcherWaits: an origin asks one of three peers that mirror a feed to come
// later. That one is killed; the next asks no sooner, and then it does.
func TestNextFetcherWaits(t *testing.T) {
	t.Parallel()
	const wait = 15 * time.Second
	o, f := newOrigin(t), newFeed("held", 2)
	var mu sync.Mutex
	var armed, said bool
	var first, next time.Time // the answer, and the request after it
	url := o.serve("held", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if armed {
			armed, said, first = false, true, time.Now()
			w.Header().Set("Retry-After", fmt.Sprint(int(wait.Seconds())))
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		if said && next.IsZero() {
			next = time.Now()
		}
		_, _ = w.Write(f.render())
	})
	n := newNetwork(t, "500ms")
	n.peer(nil, "news=held@"+url)
	for range 2 {
		n.peer(n.peers[:1], "news=held@"+url)
	}
	n.formed(map[string]int{"news": 3}, n.peers...)
	fetcher := n.fetcher(url, n.peers)
	until(t, 20*time.Second, "the first look", func() bool { return o.hits("held", http.StatusOK) > 0 })
	looked := func(p *peer) string {
		return command(t, "feed", "list", "--json", "--data", p.data).objects[0].str("last_fetch")
	}
	known := make(map[*peer]string) // at those that rest
	for _, p := range n.peers {
		if p != fetcher {
			known[p] = looked(p)
		}
	}
	mu.Lock()
	armed = true
	mu.Unlock()
	until(t, 20*time.Second, "429", func() bool {
		r := command(t, "feed", "list", "--json", "--data", fetcher.data)
		return len(r.objects) == 1 && strings.Contains(r.objects[0].str("error"), "429")
	})
	until(t, 20*time.Second, "word of it at the others", func() bool {
		for p, before := range known {
			if looked(p) == before {
				return false
			}
		}
		return true
	})
	fetcher.kill()
	n.fetcher(url, slices.Collect(maps.Keys(known)))
	mu.Lock()
	t.Logf("another looks %s after the origin said to wait for %s", time.Since(first).Round(100*time.Millisecond), wait)
	mu.Unlock()
	until(t, wait+20*time.Second, "a look of the next one", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return !next.IsZero()
	})
	if waited := next.Sub(first); waited < wait-time.Second { // its clock counts from when it heard of it
		t.Errorf("the next one asked %s after the origin said to wait for %s", waited, wait)
	}
}

// hostLog is what a site's host was asked.
type hostLog struct {
	mu        sync.Mutex
	open, top int            // requests under way, and their peak
	asked     map[string]int // by path
	by        map[string]int // requests by the process that asked
}

func (l *hostLog) note(path, loop string, more int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open += more
	l.top = max(l.top, l.open)
	if more > 0 {
		l.asked[path]++
		l.by[loop]++
	}
}

func (l *hostLog) paths() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.asked)
}

// TestHostIsAskedByOne: three strangers mirror six feeds of one host. It has one
// connection at a time, of one of them; when that one is killed, of one other, who
// asks for nothing that was just asked for.
func TestHostIsAskedByOne(t *testing.T) {
	// Not beside other tests: peers that get no CPU take longer over a fetch than a
	// place at a host is kept.
	const feeds, takes = 6, 500 * time.Millisecond
	site, elsewhere := newOrigin(t), newOrigin(t)
	l := &hostLog{asked: map[string]int{}, by: map[string]int{}}
	var outlines strings.Builder
	for i := range feeds {
		f := newFeed(fmt.Sprint("feed", i), 1)
		url := site.serve(f.name, func(w http.ResponseWriter, r *http.Request) {
			l.note(r.URL.Path, r.Header.Get("CDN-Loop"), 1)
			<-time.After(takes)
			_, _ = w.Write(f.render())
			l.note(r.URL.Path, "", -1)
		})
		fmt.Fprintf(&outlines, "<outline type='rss' text='%s' xmlUrl='%s'/>", f.name, url)
	}
	list := filepath.Join(t.TempDir(), "feeds.opml")
	if err := os.WriteFile(list, []byte("<opml version='2.0'><body>"+outlines.String()+"</body></opml>"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := newNetwork(t, "1s", "--interval", "0s")
	base := "news=base@" + elsewhere.feed(newFeed("base", 1))
	n.peer(nil, base)
	n.peer(n.peers[:1], base)
	n.peer(n.peers[:1], base)
	n.formed(map[string]int{"news": 3}, n.peers...)
	for _, p := range n.peers {
		if r := command(t, "opml", "import", "--force", "--theme", "news", "--data", p.data, list); r.code != 0 {
			t.Fatal(r)
		}
		until(t, 10*time.Second, "what the peer offers, at all", func() bool {
			for _, other := range n.peers {
				view := n.ownView(other, "news")
				for _, m := range view.list("peers") {
					if m := object(m.(map[string]any)); m.str("peer") == p.id && len(m.list("feeds")) != feeds+1 {
						return false
					}
				}
			}
			return true
		})
	}
	fetcher := n.fetcher(fmt.Sprint(site.URL, "/feed0"), n.peers)
	until(t, 30*time.Second, "some looks", func() bool { return l.paths() >= 4 })
	before := l.paths()
	fetcher.kill()
	until(t, 60*time.Second, "looks at all", func() bool { return l.paths() == feeds })
	l.mu.Lock()
	defer l.mu.Unlock()
	all := 0
	for _, n := range l.asked {
		all += n
	}
	t.Logf("%d looks, at %d feeds before the one that looked was killed; by process: %v", all, before, l.by)
	if l.top > 1 {
		t.Errorf("%d connections at once", l.top)
	}
	if len(l.by) > 2 || all > feeds+1 { // one fetch may be cut short
		t.Errorf("%d peers asked %d times", len(l.by), all)
	}
}
