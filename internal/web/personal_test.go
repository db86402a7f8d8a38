package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// readers keeps personal feeds in lists.
type readers struct {
	mu      sync.Mutex
	subs    []Subscription
	user    string // who made the last one
	state   PersonalState
	entries []feedring.Entry
	reads   int
	fails   error
	silent  error // of Subscriptions
	page    int   // how many of subs are listed at once; 0: all
}

func (p *readers) Subscriptions(_ context.Context, user, after string) (page []Subscription, next string, err error) {
	if user != p.user {
		return nil, "", nil
	}
	for _, s := range p.subs {
		if p.page > 0 && len(page) == p.page {
			return page, page[len(page)-1].ID, p.silent
		}
		if s.ID > after {
			page = append(page, s)
		}
	}
	return page, "", p.silent
}

func (p *readers) Subscribe(_ context.Context, user string, q feedring.Query, stem bool) (Subscription, error) {
	p.user = user
	s := Subscription{ID: fmt.Sprint("id", len(p.subs)), Secret: fmt.Sprint("secret", len(p.subs)), Query: q, Stem: stem, Created: testNow}
	if p.fails == nil {
		p.subs = append(p.subs, s)
	}
	return s, p.fails
}

func (p *readers) Unsubscribe(_ context.Context, user, id string) error {
	for i, s := range p.subs {
		if s.ID == id && user == p.user {
			p.subs = append(p.subs[:i:i], p.subs[i+1:]...)
			return nil
		}
	}
	return ErrUnknown.Of(errors.New("no such thing"))
}

func (p *readers) State(secret string) (PersonalState, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state, secret == p.state.Secret
}

func (p *readers) Read(context.Context, string) (PersonalState, []feedring.Entry, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reads++
	return p.state, p.entries, p.fails
}

// change shows other entries.
func (p *readers) change(version uint64, at time.Time, entries ...feedring.Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.Version, p.state.Modified, p.entries = version, at, entries
}

func personalSite(change ...func(*Config)) (*site, *readers) {
	p := &readers{state: PersonalState{Subscription: Subscription{ID: "id", Secret: "s3cret", Query: feedring.Query{Words: "gaz"}}}}
	p.change(7, testNow.Add(-time.Minute), entryAt(1, time.Hour), entryAt(2, 2*time.Hour))
	cfg := Config{Backend: newFake(), Token: testToken, PublicURL: "https://news.example/ring", Address: "127.0.0.1:7378", Personal: p, Hub: "/hub"}
	for _, c := range change {
		c(&cfg)
	}
	s := newSite(cfg, cfg.Token == "")
	s.now = func() time.Time { return testNow }
	return s, p
}

func TestSubscriptions(t *testing.T) {
	s, _ := personalSite()
	w := call(t, s, "POST", "/api/v1/subscriptions", `{"theme":"tech","provider":"LeMonde","q":"Gaz NOT sport","since":"36h","limit":7,"stem":true}`, withToken)
	var made map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"id": "id0", "theme": "technology", "provider": "lemonde", "q": "Gaz NOT sport", "since": "2026-03-03T00:00:00Z", "limit": 7.0, "stem": true,
		"atom": "https://news.example/ring/feeds/secret0.atom", "rss": "https://news.example/ring/feeds/secret0.rss",
		"json": "https://news.example/ring/feeds/secret0.json",
	} {
		if made[name] != want {
			t.Errorf("%s: %v, not %v", name, made[name], want)
		}
	}
	if w.Code != 201 || w.Header().Get("Location") != "/api/v1/subscriptions/id0" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := call(t, s, "GET", "/api/v1/subscriptions", "", withToken); w.Code != 200 || !strings.HasPrefix(w.Body.String(), `[{"id":"id0",`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := call(t, s, "DELETE", "/api/v1/subscriptions/id0", "", withToken); w.Code != 204 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := call(t, s, "GET", "/api/v1/subscriptions", "", withToken); w.Body.String() != "[]\n" {
		t.Error(w.Body)
	}
}

// A program that asks for pages is led from one to the next; one that does not gets the whole
// list, and the page shows its begin.
func TestSubscriptionsInPages(t *testing.T) {
	s, p := personalSite()
	for i := range 5 {
		p.subs = append(p.subs, Subscription{ID: fmt.Sprint("id", i), Secret: fmt.Sprint("secret", i), Created: testNow})
	}
	ids := func(target string) (ids []string, next string) {
		t.Helper()
		w := call(t, s, "GET", target, "", withToken)
		var list []struct{ ID string }
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != 200 {
			t.Fatalf("%s: %d %s %v", target, w.Code, w.Body, err)
		}
		for _, one := range list {
			ids = append(ids, one.ID)
		}
		return ids, w.Header().Get("Link")
	}
	const path = "/api/v1/subscriptions"
	for _, p.page = range []int{0, 2, 5} {
		if got, next := ids(path); fmt.Sprint(got) != "[id0 id1 id2 id3 id4]" || next != "" {
			t.Errorf("by %d: %v, %s", p.page, got, next)
		}
	}
	p.page = 2
	for _, c := range []struct{ after, ids, next string }{
		{"", "[id0 id1]", `<?after=id1>; rel="next"`}, {"id1", "[id2 id3]", `<?after=id3>; rel="next"`}, {"id3", "[id4]", ""}, {"id4", "[]", ""},
	} {
		if got, next := ids(path + "?after=" + c.after); fmt.Sprint(got) != c.ids || next != c.next {
			t.Errorf("after %q: %v, %s", c.after, got, next)
		}
	}
	if w := call(t, s, "GET", "/", "", withToken); !strings.Contains(w.Body.String(), "There are more") || !strings.Contains(w.Body.String(), "secret1") || strings.Contains(w.Body.String(), "secret2") {
		t.Errorf("the page: %d %s", w.Code, w.Body)
	}
	p.page = 0
	if w := call(t, s, "GET", "/", "", withToken); strings.Contains(w.Body.String(), "There are more") {
		t.Error("the page: there are more than all")
	}
}

// The page shows a feed that was just made before the others, of which it shows some, and says
// how the rest is listed with the token or key that the reader has.
func TestThePageShowsTheFeedJustMade(t *testing.T) {
	s, p := personalSite()
	for i := range 400 {
		p.subs = append(p.subs, Subscription{ID: fmt.Sprintf("%016x", 16*i), Secret: fmt.Sprint("secret", i), Query: feedring.Query{Words: fmt.Sprint("words", i)}, Created: testNow})
	}
	made := p.subs[320].ID
	for _, p.page = range []int{0, 10} {
		if page := pageOf(t, s, "/", 200, withToken); strings.Contains(page, "secret320.atom") || !strings.Contains(page, "<code>feedring subscription list</code> lists all") {
			t.Errorf("by %d: the page shows what it has no room for: %s", p.page, page)
		}
		page := pageOf(t, s, "/?made="+made, 200, withToken)
		if first, _, _ := strings.Cut(page, "secret0.atom"); !strings.Contains(first, `id="feed-`+made+`"`) || !strings.Contains(first, "secret320.atom") || strings.Contains(page, "means nothing here") {
			t.Errorf("by %d: the feed just made is not first: %s", p.page, page)
		}
		for _, other := range []string{"", "0", "zz", "0000000000000007", "ffffffffffffffffffff"} {
			if page := pageOf(t, s, "/?made="+other, 200, withToken); !strings.Contains(page, "secret0.atom") {
				t.Errorf("made=%s: %s", other, page)
			}
		}
	}

	s, users, p := usersSite()
	users.keys["user-key"], p.user, p.page = "u", "u", 1
	p.subs = []Subscription{{ID: "id0", Secret: "secret0"}, {ID: "id1", Secret: "secret1"}}
	if page := pageOf(t, s, "/", 200, "Authorization: Bearer user-key"); !strings.Contains(page, "<code>feedring subscription list --api https://news.example --token-file KEY</code> lists all") {
		t.Errorf("a user's page: %s", page)
	}
}

// A whole list of which a later part fails does not end as one that is whole.
func TestAListThatFailsLaterIsCutOff(t *testing.T) {
	s, p := personalSite()
	p.subs, p.page = []Subscription{{ID: "id0"}, {ID: "id1"}, {ID: "id2"}}, 2
	s.Personal = failsLater{p}
	server := httptest.NewServer(s)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/api/v1/subscriptions", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "127.0.0.1:7378"
	r.Header.Set("Authorization", "Bearer "+testToken)
	resp, err := server.Client().Do(r)
	if errors.Is(err, io.EOF) {
		return // nothing had left before it failed
	}
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("it ends well: %d %s", resp.StatusCode, body)
	}
}

// failsLater fails to list what follows a first page.
type failsLater struct{ *readers }

func (f failsLater) Subscriptions(ctx context.Context, user, after string) ([]Subscription, string, error) {
	if after != "" {
		return nil, "", &AwayError{}
	}
	return f.readers.Subscriptions(ctx, user, after)
}

func TestSubscriptionsRefused(t *testing.T) {
	s, p := personalSite()
	for _, c := range []struct {
		method, path, body string
		headers            []string
		code               int
		says               string
	}{
		{"GET", "", "", nil, 401, "token"},
		{"POST", "", "{}", nil, 401, "token"},
		{"DELETE", "/id0", "", []string{"Authorization: Bearer wrong"}, 401, "token"},
		{"POST", "", "{}", []string{withToken, "Origin: https://evil.example", "Sec-Fetch-Site: cross-site"}, 403, "origin"},
		{"POST", "", "{}", []string{withToken, "Host: evil.example"}, 403, "evil.example"},
		{"POST", "", `{"q":"a AND (b"}`, []string{withToken}, 400, `"offset"`},
		{"POST", "", "{\"q\":\"a\xff\"}", []string{withToken}, 400, "byte 8 is no UTF-8"},
		{"POST", "", `{"words":"a"}`, []string{withToken}, 400, "words"},
		{"POST", "", `{"limit":"9"}`, []string{withToken}, 400, "limit is a string, where a number belongs"},
		{"POST", "", `null`, []string{withToken}, 400, "no object"},
		{"POST", "", `[]`, []string{withToken}, 400, "no object"},
		{"POST", "", ``, []string{withToken}, 400, `\"q\"`},
		{"POST", "", `{"theme":"no such thing"}`, []string{withToken}, 400, "theme"},
		{"POST", "", `{"since":"tomorrow"}`, []string{withToken}, 400, "since"},
		{"POST", "", `{"limit":5000}`, []string{withToken}, 400, "limit"},
		{"POST", "", `{"q":"` + strings.Repeat("a ", maxBody) + `"}`, []string{withToken}, 413, "less"},
		{"DELETE", "/nothing", "", []string{withToken}, 404, "no such"},
		{"PUT", "", "", []string{withToken}, 405, "POST"},
	} {
		w := call(t, s, c.method, "/api/v1/subscriptions"+c.path, c.body, c.headers...)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s %s %.40s %v: %d %s", c.method, c.path, c.body, c.headers, w.Code, w.Body)
		}
	}
	p.fails = fmt.Errorf("a million is enough")
	if w := call(t, s, "POST", "/api/v1/subscriptions", "{}", withToken); w.Code != 409 || !strings.Contains(w.Body.String(), "enough") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestPersonalAddresses: where no public address is told, the web address is.
func TestPersonalAddresses(t *testing.T) {
	for _, c := range []struct{ address, host, want string }{
		{"127.0.0.1:7378", "localhost:7378", "http://localhost:7378/feeds/"},
		{"[::]:7378", "feedring", "http://127.0.0.1:7378/feeds/"},
		{"192.0.2.1:80", "feedring", "http://192.0.2.1:80/feeds/"},
		{"", "feedring", "--http"},
	} {
		s, _ := personalSite(func(c2 *Config) {
			c2.PublicURL, c2.Address = "", c.address
			if c.host == "feedring" {
				c2.Token = "" // the socket
			}
		})
		w := call(t, s, "POST", "/api/v1/subscriptions", "{}", withToken, "Host: "+c.host)
		if !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%+v: %d %s", c, w.Code, w.Body)
		}
	}
}
