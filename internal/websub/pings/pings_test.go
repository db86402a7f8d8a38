package pings

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fetches counts fetches of feeds.
type fetches struct {
	mu   sync.Mutex
	at   map[string]int
	news bool
	took time.Duration

	pingable map[string]string // feeds by address
}

func (l *fetches) Pingable() iter.Seq2[string, string] { return maps.All(l.pingable) }

func (l *fetches) FetchForPing(_ context.Context, feed string) bool {
	l.mu.Lock()
	l.at[feed]++
	news, took := l.news, l.took
	l.mu.Unlock()
	time.Sleep(took) // virtual
	return news
}

func (l *fetches) count(feed string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at[feed]
}

func (l *fetches) feeds() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.at)
}

func (l *fetches) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprint(l.at)
}

func newRoom(t testing.TB, l *fetches, feeds ...string) *Receiver {
	l.at = make(map[string]int)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	l.pingable = map[string]string{"https://peer.example/f/blog.example/feed": "https://blog.example/feed/"}
	for _, f := range feeds {
		l.pingable[f] = f
	}
	return New(ctx, l)
}

func TestMatching(t *testing.T) {
	feeds := []string{
		"https://blog.example/feed/", "https://blog.example/comments/feed", "https://other.example/?feed=rss2",
		"https://shared.example/~anna/feed", "https://shared.example/~annabel/feed", "https://ported.example:8080/feed",
	}
	for _, c := range []struct {
		address string
		sites   bool
		want    int
	}{
		{"https://blog.example/feed/", false, 1}, {"http://www.blog.example/feed", false, 1}, {"HTTPS://BLOG.example/feed/", false, 1},
		{"https://peer.example/f/blog.example/feed", false, 1},
		{"https://blog.example/", false, 0}, {"https://blog.example/", true, 2}, {"http://www.blog.example", true, 2},
		{"https://other.example/", true, 1}, {"https://other.example", true, 1},
		{"https://shared.example/~anna", true, 1}, {"https://shared.example/~anna/", true, 1}, {"https://shared.example", true, 2},
		{"https://blog.example/fee", true, 0}, {"https://log.example", true, 0}, {"https://example", true, 0},
		{"https://ported.example/", true, 0}, {"https://ported.example:8080/", true, 1},
		{"", true, 0}, {"blog.example", true, 0}, {"/", true, 0}, {"https:///", true, 0}, {"%zz", true, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := &fetches{news: true}
			if got := newRoom(t, l, feeds...).Ping(c.sites, c.address); got != c.want {
				t.Errorf("%q: %d feeds, want %d", c.address, got, c.want)
			}
			synctest.Wait()
			if l.feeds() != c.want && c.address != "https://peer.example/f/blog.example/feed" {
				t.Errorf("%q: looked at %s", c.address, l.all())
			}
		})
	}
}

func TestManyPingsAreFewFetches(t *testing.T) {
	for _, c := range []struct {
		news        bool
		least, most int
	}{{true, 700, 722}, {false, 15, 20}} {
		synctest.Test(t, func(t *testing.T) {
			l := &fetches{news: c.news, took: 100 * time.Millisecond}
			r := newRoom(t, l, "https://blog.example/feed/")
			for range 36_000 { // an hour
				r.Ping(false, "https://blog.example/feed/")
				time.Sleep(100 * time.Millisecond)
			}
			if n := l.count("https://blog.example/feed/"); n < c.least || n > c.most {
				t.Errorf("news %v: %d looks", c.news, n)
			}
			time.Sleep(time.Hour)
		})
	}
}

// TestTheLastPingIsHeard: what is published during a fetch, or soon after it, is
// fetched.
func TestTheLastPingIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &fetches{news: true, took: time.Second}
		r := newRoom(t, l, "https://blog.example/feed/")
		const feed = "https://blog.example/feed/"
		r.Ping(false, feed)
		time.Sleep(time.Second / 2)
		r.Ping(false, feed) // during the first
		r.Ping(false, feed)
		time.Sleep(10 * time.Second)
		if n := l.count(feed); n != 2 {
			t.Errorf("%d looks", n)
		}
		r.Ping(false, feed)
		synctest.Wait()
		if n := l.count(feed); n != 3 {
			t.Errorf("%d looks: one is due at once", n)
		}
		time.Sleep(time.Hour)
	})
}

func rpc(r *Receiver, body string) (int, string) {
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest("POST", "/RPC2", strings.NewReader(body)))
	return w.Code, w.Body.String()
}

// wordpress is what WordPress 6 sends.
const wordpress = `<?xml version="1.0"?>
<methodCall>
<methodName>weblogUpdates.extendedPing</methodName>
<params>
<param><value><string>A &amp; B&#8217;s blog</string></value></param>
<param><value><string>https://blog.example/</string></value></param>
<param><value><string>https://blog.example/2026/01/post/</string></value></param>
<param><value><string>https://blog.example/feed/</string></value></param>
</params></methodCall>
`

func TestXMLRPC(t *testing.T) {
	ping := func(params string) string {
		return "<methodCall><methodName>weblogUpdates.ping</methodName><params>" + params + "</params></methodCall>"
	}
	for name, c := range map[string]struct {
		body   string
		code   int
		says   string
		looked int
	}{
		"wordpress": {wordpress, 200, "<name>flerror</name><value><boolean>0</boolean></value>", 1},
		"ping":      {ping(`<param><value>Blog</value></param><param><value>http://blog.example</value></param>`), 200, "<boolean>0</boolean>", 1},
		"latin 1":   {`<?xml version="1.0" encoding="ISO-8859-1"?>` + ping("<param><value>caf\xe9</value></param><param><value>http://blog.example</value></param>"), 200, "<boolean>0</boolean>", 1},
		"stranger":  {ping(`<param><value>x</value></param><param><value>http://stranger.example</value></param>`), 200, "<boolean>1</boolean>", 0},
		"no params": {ping(""), 200, "<int>-32602</int>", 0},
		"no url":    {ping(`<param><value>x</value></param><param><value><int>7</int></value></param>`), 200, "<int>-32602</int>", 0},
		"method":    {"<methodCall><methodName>system.&lt;b&gt;</methodName></methodCall>", 200, "no method &#34;system.&lt;b&gt;&#34;", 0},
		"no xml":    {"hello", 200, "<int>-32700</int>", 0},
		"empty":     {"", 200, "<int>-32700</int>", 0},
		"html":      {"<html><body></body></html>", 200, "<int>-32700</int>", 0},
		"half":      {wordpress[:300], 200, "<int>-32700</int>", 0},
		"charset":   {`<?xml version="1.0" encoding="utf-7"?><methodCall/>`, 200, "UTF-8", 0},
		"bomb": {`<!DOCTYPE b [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>` +
			ping(`<param><value>&b;</value></param><param><value>http://blog.example</value></param>`), 200, "<int>-32700</int>", 0},
		"deep":  {strings.Repeat("<a>", 20_000), 200, "<int>-32700</int>", 0},
		"large": {ping("<param><value>" + strings.Repeat("x", maxCall) + "</value></param>"), 413, "longer", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &fetches{news: true}
				r := newRoom(t, l, "https://blog.example/feed/")
				code, says := rpc(r, c.body)
				synctest.Wait()
				if code != c.code || !strings.Contains(says, c.says) || l.feeds() != c.looked {
					t.Errorf("%d %s, looked at %v", code, says, l.all())
				}
			})
		})
	}
}

func TestOneCallerIsSlowedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &fetches{news: true}
		r := newRoom(t, l, "https://blog.example/feed/")
		for range 30 {
			rpc(r, wordpress)
		}
		if _, says := rpc(r, wordpress); !strings.Contains(says, "<boolean>1</boolean>") || !strings.Contains(says, "in 1 seconds") {
			t.Error(says)
		}
		time.Sleep(time.Minute)
	})
}

func FuzzRPC(f *testing.F) {
	f.Add(wordpress)
	f.Fuzz(func(t *testing.T, body string) {
		r := New(t.Context(), &fetches{at: make(map[string]int)})
		if _, says := rpc(r, body); !strings.Contains(says, "methodResponse") && !strings.Contains(says, "longer") {
			t.Error(says)
		}
	})
}
