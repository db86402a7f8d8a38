package integration

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// requestLog is what an origin was asked, in order.
type requestLog struct {
	mu   sync.Mutex
	seen []*http.Request
}

func (l *requestLog) note(r *http.Request) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, r.Clone(r.Context()))
	return len(l.seen)
}

func (l *requestLog) all() []*http.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.seen)
}

// TestPolitePeer reads what a peer sends to an origin, over a restart, as a
// publisher would in the server's log.
func TestPolitePeer(t *testing.T) {
	t.Parallel()
	const tag, modified = "W/\"a \xe9,'odd\"", "one day, about noon"
	o, l := newOrigin(t), &requestLog{}
	doc := newFeed("polite", 2)
	here := func(w http.ResponseWriter, r *http.Request) {
		l.note(r)
		w.Header()["Etag"], w.Header()["Last-Modified"] = []string{tag}, []string{modified}
		http.SetCookie(w, &http.Cookie{Name: "who", Value: "you"})
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(doc.render())
	}
	o.serve("here", here)
	elsewhere := o.serve("elsewhere", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "from", Value: "there", Path: "/"})
		http.Redirect(w, r, "/here", http.StatusFound)
	})
	n := newNetwork(t, "500ms", "--public-url", "https://peer.example")
	p := n.peer(nil)
	if r := command(t, "feed", "add", "--data", p.data, elsewhere); r.code != 0 {
		t.Fatal(r)
	}
	until(t, 10*time.Second, "two looks", func() bool { return len(l.all()) >= 2 })
	p.kill()
	before := len(l.all())
	n.start(p)
	until(t, 10*time.Second, "a look after the restart", func() bool { return len(l.all()) > before })
	for i, r := range l.all() {
		h := r.Header
		if i == 0 && (h["If-None-Match"] != nil || h["If-Modified-Since"] != nil || h["A-Im"] != nil) {
			t.Errorf("the first request has conditions: %v", h)
		}
		if i > 0 && (h.Get("If-None-Match") != tag || h.Get("If-Modified-Since") != modified || h.Get("A-IM") != "feed") {
			t.Errorf("the %d. request: %v", i+1, h)
		}
		if h["Cookie"] != nil || h["Referer"] != nil || r.URL.RawQuery != "" {
			t.Errorf("the %d. request says more than it is asked: %s %v", i+1, r.URL, h)
		}
		if !strings.Contains(h.Get("Accept"), "application/atom+xml") || h.Get("Accept-Encoding") != "gzip, br" {
			t.Errorf("the %d. request: %v", i+1, h)
		}
		agent := h.Get("User-Agent")
		readers := "; 1 subscriber)"
		if i == 0 { // it has none before it is added
			readers = ")"
		}
		if !strings.HasPrefix(agent, "feedring/") || !strings.HasSuffix(agent, " (+https://peer.example"+readers) {
			t.Errorf("the %d. request is of %q", i+1, agent)
		}
	}
}

// TestPeerObeysItsOrigin: 410 ends over a restart, until the feed is added
// again; and 429 holds for the feeds beside, over a restart.
func TestPeerObeysItsOrigin(t *testing.T) {
	t.Parallel()
	o, other := newOrigin(t), newOrigin(t)
	gone := o.serve("gone", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusGone) })
	beside := other.feed(newFeed("beside", 1))
	limited := other.serve("limited", func(w http.ResponseWriter, r *http.Request) {
		if other.hits("beside", 0) >= 2 {
			w.Header().Set("Retry-After", "600")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = w.Write(newFeed("limited", 1).render())
	})
	n := newNetwork(t, "500ms")
	p := n.peer(nil, "news=gone@"+gone, "news=beside@"+beside, "news=limited@"+limited, "news=free@"+o.feed(newFeed("free", 1)))
	looks := func(more int) { // at a host that limits nothing
		from := o.hits("free", 0)
		until(t, 20*time.Second, "looks elsewhere", func() bool { return o.hits("free", 0) >= from+more })
	}
	until(t, 20*time.Second, "429", func() bool { return other.hits("limited", http.StatusTooManyRequests) > 0 })
	held := other.hits("beside", 0) + 1 // one may be under way
	looks(3)
	p.kill()
	n.start(p)
	looks(3)
	if now := other.hits("beside", 0); now > held {
		t.Errorf("%d requests at a host that asked to be left alone", now-held)
	}
	if now := other.hits("limited", http.StatusTooManyRequests); now != 1 {
		t.Errorf("%d requests for what was limited", now)
	}
	if now := o.hits("gone", 0); now != 1 {
		t.Errorf("%d requests for what is gone", now)
	}
	r := command(t, "feed", "list", "--json", "--data", p.data)
	said := slices.ContainsFunc(r.objects, func(f object) bool {
		return f.str("url") == gone && f["gone"] == true && strings.Contains(f.str("error"), "fetched no more")
	})
	if !said {
		t.Errorf("feed list: %v", r)
	}
	if r := command(t, "feed", "add", "--data", p.data, "--theme", "news", gone); r.code != 0 {
		t.Logf("added again: %v", r)
	}
	if r := command(t, "ping", "--data", p.data, gone); r.code != 1 || !strings.Contains(r.stderr, "410") {
		t.Errorf("ping: %v", r)
	}
	if now := o.hits("gone", 0); now < 2 {
		t.Errorf("%d requests for what was asked for again", now)
	}
}

// TestOriginGivesDeltas: an origin that answers with new entries alone loses
// none of the old ones, among readers nor for pollers.
func TestOriginGivesDeltas(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	item := func(n string) string {
		return "<item><guid isPermaLink='false'>" + n + "</guid><title>Story " + n + "</title></item>"
	}
	deltas := 0
	var mu sync.Mutex
	url := o.serve("delta", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		items := item("two") + item("one")
		switch r.Header.Get("If-None-Match") {
		case `"2"`:
			w.WriteHeader(http.StatusNotModified)
			return
		case `"1"`:
			if r.Header.Get("A-IM") != "feed" {
				t.Errorf("asked with %v", r.Header)
			}
			deltas++
			items = item("three")
			w.Header().Set("ETag", `"2"`)
			w.Header().Set("IM", "feed")
			w.WriteHeader(http.StatusIMUsed)
		default:
			w.Header().Set("ETag", `"1"`)
		}
		_, _ = w.Write([]byte("<rss version='2.0'><channel><title>Deltas</title>" + items + "</channel></rss>"))
	})
	n := newNetwork(t, "500ms")
	p := n.peer(nil, "news=delta@"+url)
	until(t, 15*time.Second, "three entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == 3 })
	var front string
	until(t, 10*time.Second, "where pollers find it", func() bool {
		r := command(t, "status", "--json", "--data", p.data)
		if r.code == 0 && len(r.objects[0].list("feeds")) == 1 {
			front = object(r.objects[0].list("feeds")[0].(map[string]any)).str("front")
		}
		return front != ""
	})
	resp, err := http.Get(front)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	for _, story := range []string{"Story two", "Story three"} {
		if !strings.Contains(string(body), story) {
			t.Errorf("pollers miss %s:\n%s", story, body)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if deltas != 1 {
		t.Errorf("%d deltas were given", deltas)
	}
}
