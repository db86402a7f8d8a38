package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// reply is what the HTTP API said.
type reply struct {
	code   int
	header http.Header
	body   []byte
}

func (r reply) String() string { return fmt.Sprintf("%d %s", r.code, tail(string(r.body))) }

// call asks p's web address; change may alter the request.
func call(t testing.TB, p *peer, method, path, body string, change ...func(*http.Request)) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.http+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(req)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, b}
}

// token sends p's own token.
func (p *peer) token(t testing.TB) func(*http.Request) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(p.data, "token"))
	if err != nil {
		t.Fatal(err)
	}
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(b))) }
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

var nextPage = regexp.MustCompile(`<([^>]+)>; *rel="next"`)

// TestHTTP is the API at the web address of a peer in a network.
func TestHTTP(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	f := newFeed("news", 18)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=news@"+o.feed(f))
	q := n.peer([]*peer{p}, "sport=sport@"+o.feed(newFeed("sport", 2)))
	n.formed(map[string]int{"news": 1, "sport": 1}, p, q)
	until(t, 10*time.Second, "entries", func() bool { return len(n.query(q, "--theme", "news").entries()) == 18 })

	t.Run("health", func(t *testing.T) {
		until(t, 20*time.Second, "the connections of clients that ended", func() bool {
			return strings.Contains(string(call(t, p, "GET", "/metrics", "").body), "\nfeedring_peers 1\n")
		})
		for path, text := range map[string]string{
			"/livez": "", "/healthz": "", "/readyz": "", "/metrics": "\nfeedring_peers 1\n", "/": "<html",
			"/api/v1/status": p.id, "/api/v1/ring": `"theme":"sport"`, "/api/v1/catalog/news": p.id,
		} {
			if r := call(t, p, "GET", path, ""); r.code != 200 || !strings.Contains(string(r.body), text) {
				t.Errorf("%s: %v", path, r)
			}
		}
	})
	t.Run("pages", func(t *testing.T) {
		for _, at := range []*peer{p, q} {
			pages(t, at)
		}
	})
	t.Run("atom", func(t *testing.T) {
		var doc struct {
			XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
			Entries []struct {
				ID      string    `xml:"id"`
				Updated time.Time `xml:"updated"`
			} `xml:"entry"`
		}
		r := call(t, q, "GET", "/api/v1/entries.atom?theme=news&limit=30", "")
		if err := xml.Unmarshal(r.body, &doc); err != nil || len(doc.Entries) != 18 || doc.Entries[0].ID == "" {
			t.Errorf("atom: %v: %v", err, r)
		}
	})
	t.Run("refused", func(t *testing.T) { refusals(t, p, o) })
}

// pages reads all news by following links, and finds every entry once.
func pages(t *testing.T, p *peer) {
	seen := make(map[string]bool)
	path, count := "/api/v1/entries?theme=news&limit=5", 0
	for path != "" {
		r := call(t, p, "GET", path, "")
		var entries []object
		if err := json.Unmarshal(r.body, &entries); err != nil || r.code != 200 || len(entries) > 5 {
			t.Fatalf("%s: %v: %v", path, err, r)
		}
		for _, e := range entries {
			if seen[e.str("id")] {
				t.Errorf("%s was there twice", e.str("id"))
			}
			seen[e.str("id")] = true
		}
		path = ""
		if m := nextPage.FindStringSubmatch(r.header.Get("Link")); m != nil {
			path = strings.TrimPrefix(m[1], p.http)
		}
		if count++; count > 10 {
			t.Fatal("the pages do not end")
		}
	}
	if len(seen) != 18 {
		t.Errorf("%d entries on all pages, not 18", len(seen))
	}
}

// refusals is who may do what, and what is said to the others.
func refusals(t *testing.T, p *peer, o *origin) {
	feed := `{"url":"` + o.feed(newFeed("added", 1)) + `"}`
	var local func(*http.Request) = func(*http.Request) {}
	for name, c := range map[string]struct {
		method, path, body string
		change             func(*http.Request)
		more               func(*http.Request)
		code               int
		says               string
	}{
		"no token":         {"POST", "/api/v1/feeds", feed, local, local, 401, "DATA/token"},
		"a wrong token":    {"POST", "/api/v1/feeds", feed, header("Authorization", "Bearer nonsense"), local, 401, "token"},
		"list, no token":   {"GET", "/api/v1/feeds", "", local, local, 401, "token"},
		"a foreign host":   {"POST", "/api/v1/feeds", feed, p.token(t), host("evil.example"), 403, "evil.example"},
		"a foreign origin": {"POST", "/api/v1/feeds", feed, p.token(t), header("Origin", "https://evil.example"), 403, "origin"},
		"a bad theme":      {"GET", "/api/v1/entries?theme=a%20b", "", local, local, 400, "theme"},
		"bad words":        {"GET", "/api/v1/entries?q=(a", "", local, local, 400, "("},
		"a bad time":       {"GET", "/api/v1/entries?since=yesterdayish", "", local, local, 400, "since"},
		"a bad limit":      {"GET", "/api/v1/entries?limit=-1", "", local, local, 400, "limit"},
		"a bad cursor":     {"GET", "/api/v1/entries?cursor=zzz", "", local, local, 400, "cursor"},
		"no such path":     {"GET", "/api/v1/nothing", "", local, local, 404, ""},
		"a wrong method":   {"PUT", "/api/v1/entries", "", local, local, 405, ""},
		"an unknown theme": {"GET", "/api/v1/catalog/nothing-like-it", "", local, local, 404, ""},
	} {
		r := call(t, p, c.method, c.path, c.body, c.change, c.more)
		var problem struct {
			Status int    `json:"status"`
			Detail string `json:"detail"`
		}
		err := json.Unmarshal(r.body, &problem)
		if err != nil || r.code != c.code || problem.Status != c.code || !strings.Contains(problem.Detail, c.says) || problem.Detail == "" ||
			!strings.HasPrefix(r.header.Get("Content-Type"), "application/problem+json") {
			t.Errorf("%s: %v: %v", name, err, r)
		}
	}
	if r := call(t, p, "POST", "/api/v1/feeds", feed, p.token(t)); r.code != 201 {
		t.Errorf("with the token: %v", r)
	}
	if r := call(t, p, "GET", "/api/v1/feeds", "", p.token(t)); r.code != 200 || !strings.Contains(string(r.body), "/added") {
		t.Errorf("the list: %v", r)
	}
}

// event is a server-sent event.
type event struct{ name, id, data string }

// stream reads server-sent events until the test ends or it is closed.
func stream(t testing.TB, p *peer, path, last string) (events chan event, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", p.http+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("stream: %v %v", err, resp)
	}
	events = make(chan event, 1000)
	go func() {
		defer close(events)
		defer resp.Body.Close()
		var e event
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "event":
				e.name = value
			case "id":
				e.id = value
			case "data":
				e.data = value
			case "":
				if e.name != "" {
					events <- e
				}
				e = event{}
			}
		}
	}()
	t.Cleanup(cancel)
	return events, cancel
}

// TestStreamAcrossRestart reads a stream, loses it to a restart of its peer,
// and goes on by its last event.
func TestStreamAcrossRestart(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	f := newFeed("live", 3)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=live@"+o.feed(f))
	until(t, 10*time.Second, "entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == 3 })
	seen := make(map[string]int)
	last := ""
	// take reads until an entry of this title came.
	take := func(events chan event, title string) {
		t.Helper()
		deadline := time.After(15 * time.Second)
		for {
			select {
			case e, ok := <-events:
				if !ok {
					t.Fatalf("the stream ended before %q", title)
				}
				if e.id != "" {
					last = e.id
				}
				if e.name != "entry" {
					continue
				}
				var entry object
				if err := json.Unmarshal([]byte(e.data), &entry); err != nil {
					t.Fatal(err)
				}
				seen[entry.str("title")]++
				if entry.str("title") == title {
					return
				}
			case <-deadline:
				t.Fatalf("no %q", title)
			}
		}
	}
	events, stop := stream(t, p, "/api/v1/stream?theme=news", "")
	defer stop()
	for deadline := time.After(10 * time.Second); len(seen) < 3; {
		select {
		case e := <-events:
			var entry object
			if e.name == "entry" && json.Unmarshal([]byte(e.data), &entry) == nil {
				seen[entry.str("title")]++
			}
		case <-deadline:
			t.Fatalf("the first answer: %v", seen)
		}
	}
	f.add("live", "x", time.Time{})
	take(events, "live")

	p.kill()
	f.add("while it was down", "x", time.Time{})
	n.start(p)
	events, stop = stream(t, p, "/api/v1/stream?theme=news", last)
	defer stop()
	take(events, "while it was down")
	f.add("afterwards", "x", time.Time{})
	take(events, "afterwards")
	if len(seen) != 6 {
		t.Errorf("%d entries: %v", len(seen), seen)
	}
	for title, times := range seen {
		if times != 1 {
			t.Errorf("%q came %d times", title, times)
		}
	}
}

// TestStreamCutOff takes one event of a stream at a time, each on a connection
// of its own: the first answer goes on where it was cut off.
func TestStreamCutOff(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=live@"+o.feed(newFeed("live", 6)))
	until(t, 10*time.Second, "entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == 6 })
	var titles []string
	for last := ""; ; {
		events, stop := stream(t, p, "/api/v1/stream?theme=news&limit=5", last)
		var e event
		select {
		case e = <-events:
		case <-time.After(15 * time.Second):
			t.Fatalf("nothing after %v", titles)
		}
		stop()
		if e.name != "entry" {
			break
		}
		var entry object
		must(t, json.Unmarshal([]byte(e.data), &entry))
		titles, last = append(titles, entry.str("title")), e.id
		if len(titles) > 5 {
			break
		}
	}
	if got, want := strings.Join(titles, ", "), "live story 0, live story 1, live story 2, live story 3, live story 4"; got != want {
		t.Errorf("told were %s", got)
	}
}
