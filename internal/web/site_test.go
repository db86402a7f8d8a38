package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/feedring/feedring"
)

func TestRoutes(t *testing.T) {
	tests := []struct {
		method, target, body string
		headers              []string
		status               int
		contains             string // in the body, or of the named header
	}{
		{"GET", "/livez", "", nil, 200, "alive"},
		{"GET", "/healthz", "", nil, 200, "alive"},
		{"GET", "/readyz", "", nil, 200, `{"status":"ready","warnings":[]}`},
		{"GET", "/metrics", "", nil, 200, "up 1"},
		{"HEAD", "/livez", "", nil, 200, ""},
		{"GET", "/", "", nil, 200, "12D3KooWSelf"},
		{"GET", "/style.css", "", nil, 200, "body"},
		{"GET", "/page.js", "", nil, 200, "EventSource"},
		{"GET", "/group/news", "", nil, 200, "Group news"},
		{"GET", "/group/headlines", "", nil, 200, "Group news"},
		{"GET", "/group/nobody", "", nil, 404, "no group publishes nobody"},
		{"GET", "/group/no%20theme", "", nil, 400, "only letters"},
		{"GET", "/api/v1/status", "", nil, 200, `"network":"main"`},
		{"GET", "/api/v1/ring", "", nil, 200, `[{"theme":"news","manager":"12D3B","term":3`},
		{"GET", "/api/v1/catalog/news", "", nil, 200, `{"theme":"news"`},
		{"GET", "/api/v1/catalog/headlines", "", nil, 200, `{"theme":"news"`},
		{"GET", "/api/v1/catalog/nobody", "", nil, 404, "no group publishes nobody"},
		{"GET", "/api/v1/catalog/no%20theme", "", nil, 400, "only letters"},
		{"GET", "/api/v1/entries", "", nil, 200, "[]"},
		{"GET", "/api/v1/entries?theme=x_y", "", nil, 400, "only letters"},
		{"GET", "/api/v1/entries?q=a+AND", "", nil, 400, `\n     ^`},
		{"GET", "/api/v1/entries?q=a+AND", "", nil, 400, `"offset":5`},
		{"GET", "/api/v1/entries?since=tomorrow", "", nil, 400, "since: "},
		{"GET", "/api/v1/entries?until=12", "", nil, 400, "until: "},
		{"GET", "/api/v1/entries?since=1h&until=2h", "", nil, 400, "not after"},
		{"GET", "/api/v1/entries?limit=0", "", nil, 400, "between 1 and 1000"},
		{"GET", "/api/v1/entries?limit=1001", "", nil, 400, "between 1 and 1000"},
		{"GET", "/api/v1/entries?limit=ten", "", nil, 400, "between 1 and 1000"},
		{"GET", "/api/v1/entries?provider=a%20b", "", nil, 400, "provider"},
		{"GET", "/api/v1/entries?provider=a%ff", "", nil, 400, "provider"},
		{"GET", "/api/v1/entries?q=a%ff", "", nil, 400, `"offset":1`},
		{"GET", "/api/v1/stream?q=a%ff", "", nil, 400, `"offset":1`},
		{"GET", "/api/v1/entries?cursor=xx", "", nil, 400, "cursor"},
		{"GET", "/api/v1/entries?q=%zz", "", nil, 400, "query string"},
		{"GET", "/api/v1/entries?q=a&q=b", "", nil, 400, "give it once"},
		{"GET", "/api/v1/entries?newer=1", "", nil, 400, `the parameter \"newer\" is unknown: use theme, provider, since, until, q, stem, vouched, limit, cursor`},
		{"GET", "/api/v1/entries?q=a&teme=news", "", nil, 400, `\"teme\" is unknown: did you mean theme?`},
		{"GET", "/api/v1/entries.atom?utm_source=reader", "", nil, 200, "<feed"},
		{"GET", "/?utm_source=reader", "", nil, 200, "<html"},
		{"GET", "/api/v1/entries.atom", "", nil, 200, "<feed"},
		{"GET", "/api/v1/stream?limit=x", "", nil, 400, "between"},
		{"GET", "/api/v1/stream?updates=perhaps", "", nil, 400, "true or false"},
		{"GET", "/nothing", "", nil, 404, "/api/v1"},
		{"GET", "/api/v1/", "", nil, 404, "/api/v1"},
		{"POST", "/api/v1/status", "", nil, 405, "use GET, HEAD"},
		{"DELETE", "/api/v1/ping", "", nil, 405, "use POST"},
		{"PUT", "/api/v1/feeds", "", nil, 405, "use DELETE, GET, HEAD, POST"},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.target, func(t *testing.T) {
			w := call(t, testSite(newFake(), false), tt.method, tt.target, tt.body, tt.headers...)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.contains) {
				t.Fatalf("%d %s; want %d with %q", w.Code, w.Body, tt.status, tt.contains)
			}
			checkForm(t, w)
		})
	}
}

// checkForm holds what every answer must have.
func checkForm(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	h := w.Header()
	if h.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("security headers are missing: %v", h)
	}
	if w.Code < 400 {
		return
	}
	var p problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	if h.Get("Content-Type") != "application/problem+json" || p.Type != "about:blank" || p.Status != w.Code ||
		p.Title != http.StatusText(w.Code) || p.Detail == "" {
		t.Errorf("%s %+v is no whole problem document", h.Get("Content-Type"), p)
	}
	if w.Code == 405 && h.Get("Allow") == "" || w.Code == 401 && h.Get("WWW-Authenticate") == "" || w.Code == 503 && h.Get("Retry-After") == "" {
		t.Errorf("status %d without its header: %v", w.Code, h)
	}
}

func TestAccess(t *testing.T) {
	feed := `{"url":"https://new.example/feed","theme":"sport"}`
	tests := []struct {
		name, method, target, body string
		headers                    []string
		web, socket                int
	}{
		{"no token", "GET", "/api/v1/feeds", "", nil, 401, 200},
		{"wrong token", "GET", "/api/v1/feeds", "", []string{"Authorization: Bearer no"}, 401, 200},
		{"other scheme", "GET", "/api/v1/feeds", "", []string{"Authorization: Basic " + testToken}, 401, 200},
		{"token", "GET", "/api/v1/feeds", "", []string{withToken}, 200, 200},
		{"scheme in lower case", "GET", "/api/v1/feeds", "", []string{"Authorization: bearer " + testToken}, 200, 200},
		{"foreign host", "GET", "/api/v1/feeds", "", []string{withToken, "Host: evil.example"}, 403, 200},
		{"doctor", "GET", "/api/v1/doctor", "", nil, 401, 200},
		{"vouch", "GET", "/api/v1/vouch?site=a.example", "", nil, 401, 200},
		{"vouch for an address", "GET", "/api/v1/vouch?site=https://a.example/", "", []string{withToken}, 400, 400},
		{"add", "POST", "/api/v1/feeds", feed, []string{withToken}, 201, 201},
		{"add without token", "POST", "/api/v1/feeds", feed, nil, 401, 201},
		{"add from a foreign host", "POST", "/api/v1/feeds", feed, []string{withToken, "Host: evil.example:7378"}, 403, 201},
		{"add from a foreign origin", "POST", "/api/v1/feeds", feed, []string{withToken, "Origin: https://evil.example"}, 403, 201},
		{"add from a foreign site", "POST", "/api/v1/feeds", feed, []string{withToken, "Sec-Fetch-Site: cross-site"}, 403, 201},
		{"add from our origin", "POST", "/api/v1/feeds", feed, []string{withToken, "Origin: http://127.0.0.1:7378", "Sec-Fetch-Site: same-origin"}, 201, 201},
		{"add from the public origin", "POST", "/api/v1/feeds", feed, []string{withToken, "Origin: https://news.example", "Host: news.example"}, 201, 201},
		{"add behind a proxy", "POST", "/api/v1/feeds", feed, []string{withToken, "Origin: https://news.example", "Host: 127.0.0.1:7378"}, 201, 201},
		{"localhost", "POST", "/api/v1/feeds", feed, []string{withToken, "Host: localhost:9999"}, 201, 201},
		{"IPv6", "POST", "/api/v1/feeds", feed, []string{withToken, "Host: [::1]:7378"}, 201, 201},
		{"no host", "POST", "/api/v1/feeds", feed, []string{withToken, "Host: "}, 403, 201},
		{"wrong token for what is public", "GET", "/api/v1/entries", "", []string{"Authorization: Bearer no"}, 401, 200},
		{"token at a foreign host", "GET", "/api/v1/entries", "", []string{withToken, "Host: evil.example"}, 403, 200},
		{"reading at a foreign host", "GET", "/api/v1/entries", "", []string{"Host: evil.example"}, 403, 200},
		{"reading without a host", "GET", "/api/v1/entries", "", []string{"Host: "}, 200, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for trusted, want := range map[bool]int{false: tt.web, true: tt.socket} {
				w := call(t, testSite(newFake(), trusted), tt.method, tt.target, tt.body, tt.headers...)
				if w.Code != want {
					t.Errorf("socket %v: %d %s; want %d", trusted, w.Code, w.Body, want)
				}
				checkForm(t, w)
			}
		})
	}
}

func TestNoTokenMeansNoAccess(t *testing.T) {
	h := Handler(Config{Backend: newFake()})
	for _, header := range []string{"Authorization: Bearer ", "Authorization: Bearer", "X-Nothing: 1"} {
		if w := call(t, h, "GET", "/api/v1/feeds", "", header); w.Code != 401 {
			t.Errorf("%s: %d", header, w.Code)
		}
	}
}

func TestFeeds(t *testing.T) {
	f := newFake()
	s := testSite(f, true)
	steps := []struct {
		method, target, body string
		status               int
		contains             string
	}{
		{"POST", "/api/v1/feeds", `{"url":"https://NEW.example/feed","theme":"Sports"}`, 201, `{"url":"https://new.example/feed","theme":"sport","provider":"new.example"`},
		{"POST", "/api/v1/feeds", `{"url":"https://new.example/feed","theme":"sport"}`, 200, `"theme":"sport"`},
		{"POST", "/api/v1/feeds", `{"url":"https://new.example/feed","theme":"news"}`, 409, "remove it first"},
		{"POST", "/api/v1/feeds", `{"url":"https://own.example/feed","provider":"Me"}`, 201, `"provider":"me"`},
		{"POST", "/api/v1/feeds", `{"url":"ftp://new.example/"}`, 400, "only http"},
		{"POST", "/api/v1/feeds", `{"url":"https://u:p@new.example/"}`, 400, "password"},
		{"POST", "/api/v1/feeds", `{"url":"https://new.example/","theme":"a b"}`, 400, "only letters"},
		{"POST", "/api/v1/feeds", ``, 400, "empty"},
		{"POST", "/api/v1/feeds", `{"url":`, 400, "cannot be read"},
		{"POST", "/api/v1/feeds", `{"url":1}`, 400, "url is a number, where a string belongs"},
		{"POST", "/api/v1/feeds", "{\"url\":\"https://a.example/\xff\"}", 400, "byte 27 is no UTF-8"},
		{"POST", "/api/v1/feeds", "{\"url\":\"https://a.example/\",\"provider\":\"a\xff\"}", 400, "no UTF-8"},
		{"POST", "/api/v1/feeds", `{"link":"x"}`, 400, `unknown field \"link\"`},
		{"POST", "/api/v1/feeds", `{"url":"https://x.example/"} {}`, 400, "follows"},
		{"POST", "/api/v1/feeds", `{"url":"` + strings.Repeat("x", maxBody) + `"}`, 413, "65536"},
		{"POST", "/api/v1/feeds", `{"url":"https://x.example/"}` + strings.Repeat(" ", maxBody), 413, "65536"},
		{"POST", "/api/v1/ping", `{"url":"https://new.example/feed"}`, 200, `"url":"https://new.example/feed"`},
		{"POST", "/api/v1/ping", `{"url":"https://none.example/feed"}`, 404, "not one of this peer's feeds"},
		{"POST", "/api/v1/ping", `{"url":""}`, 400, "only http"},
		{"GET", "/api/v1/history", "", 200, `"whole":true`},
		{"GET", "/api/v1/history/rebuild", "", 405, "use POST"},
		{"POST", "/api/v1/history/rebuild", "", 202, `"whole":false`},
		{"GET", "/api/v1/feeds", "", 200, "https://secret.example/feed"},
		{"DELETE", "/api/v1/feeds?url=https://new.example/feed", "", 204, ""},
		{"DELETE", "/api/v1/feeds?url=https://new.example/feed", "", 404, "not one of"},
		{"DELETE", "/api/v1/feeds/https%3A%2F%2Fown.example%2Ffeed", "", 204, ""},
		{"DELETE", "/api/v1/feeds", "", 400, "only http"},
		{"GET", "/api/v1/doctor", "", 200, `{"checks":[{"name":"clock","ok":true`},
		{"GET", "/api/v1/vouch?site=A.example", "", 200, `"site":"a.example"`},
	}
	for _, step := range steps {
		w := call(t, s, step.method, step.target, step.body)
		if w.Code != step.status || !strings.Contains(w.Body.String(), step.contains) {
			t.Errorf("%s %s %.80s: %d %s; want %d with %q", step.method, step.target, step.body, w.Code, w.Body, step.status, step.contains)
		}
		checkForm(t, w)
	}
	if len(f.feeds) != 2 {
		t.Errorf("feeds left: %v", f.feeds)
	}
}

// TestPingFails: whoever asks for a look is told when it did not succeed.
func TestPingFails(t *testing.T) {
	for _, test := range []struct {
		err    error
		status int
	}{
		{ErrOrigin.Of(errors.New("own: 404")), http.StatusBadGateway},
		{ErrLate.Of(errors.New("own: 404")), http.StatusGatewayTimeout},
	} {
		f := newFake()
		f.feeds = []FeedStatus{{URL: "https://own.example/feed"}}
		f.fails = test.err
		w := call(t, testSite(f, true), "POST", "/api/v1/ping", `{"url":"https://own.example/feed"}`)
		if w.Code != test.status || !strings.Contains(w.Body.String(), `"detail":"own: 404"`) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		checkForm(t, w)
	}
}

func TestPrivateFeedsStayPrivate(t *testing.T) {
	for _, target := range []string{"/", "/api/v1/status"} {
		public, own := call(t, testSite(newFake(), false), "GET", target, ""), call(t, testSite(newFake(), true), "GET", target, "")
		if strings.Contains(public.Body.String(), "secret.example") || !strings.Contains(public.Body.String(), "a.example") {
			t.Errorf("%s without a token: %s", target, public.Body)
		}
		if !strings.Contains(own.Body.String(), "secret.example") {
			t.Errorf("%s on the socket: %s", target, own.Body)
		}
	}
}

func TestPageEscapes(t *testing.T) {
	const attack = `"><script>alert(1)</script><img src=x onerror='alert(1)'>`
	f := newFake()
	f.status = Status{Addrs: []string{attack}, Roles: []RoleStatus{{Theme: attack, Role: attack}}}
	f.feeds = []FeedStatus{{URL: "javascript:alert(1)", Theme: attack, Provider: attack, Title: attack, Error: attack}}
	w := call(t, testSite(f, false), "GET", "/", "")
	body := w.Body.String()
	for _, bad := range []string{"<script>", "<img", `href="javascript:`} {
		if strings.Contains(body, bad) {
			t.Errorf("the page has %s:\n%s", bad, body)
		}
	}
	if !strings.Contains(body, "&lt;script&gt;") {
		t.Errorf("the title is not shown:\n%s", body)
	}
	if csp := w.Header().Get("Content-Security-Policy"); strings.Contains(csp, "unsafe") || !strings.Contains(csp, "script-src 'self';") {
		t.Errorf("policy %q", csp)
	}
}

func TestUnready(t *testing.T) {
	f := newFake()
	f.unready = true
	w := call(t, testSite(f, false), "GET", "/readyz", "")
	for _, want := range []string{`"detail":"the roles are not settled"`, `"reasons":["the roles are not settled"]`, `"warnings":["the clock is off"]`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s in %s", want, w.Body)
		}
	}
	if w.Code != 503 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	checkForm(t, w)
	if w := call(t, testSite(f, false), "GET", "/livez", ""); w.Code != 200 {
		t.Errorf("alive: %d", w.Code)
	}
}

// TestOthersFaultsAreNoWarning: a log that warns of what readers and origins do
// hides what is wrong here.
func TestOthersFaultsAreNoWarning(t *testing.T) {
	for _, test := range []struct {
		err   error
		warns bool
	}{{errors.New("no peer answers"), true}, {context.Canceled, false}, {ErrOrigin.Of(errors.New("404")), false}, {ErrLate.Of(errors.New("slow")), false}} {
		var said bytes.Buffer
		f := newFake()
		f.fails = test.err
		h := Handler(Config{Backend: f, Token: testToken, Address: "127.0.0.1:7378", Logger: slog.New(slog.NewTextHandler(&said, nil))})
		w := call(t, h, "POST", "/api/v1/ping", `{"url":"https://a.example/feed"}`, withToken)
		if warned := strings.Contains(said.String(), "a request failed"); warned != test.warns || w.Code < 500 {
			t.Errorf("%v: %d, said %q", test.err, w.Code, &said)
		}
	}
}

func TestBackendFails(t *testing.T) {
	f := newFake()
	f.fails = errors.New("no peer of news answers: try again in a moment")
	for _, target := range []string{"/", "/api/v1/ring", "/api/v1/catalog/news", "/api/v1/entries", "/api/v1/entries.atom"} {
		w := call(t, testSite(f, false), "GET", target, "")
		if w.Code != 503 || !strings.Contains(w.Body.String(), "try again") {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
		checkForm(t, w)
	}
}

// TestForeignHosts: a page whose name was pointed at this peer reads nothing of it,
// whatever it asks for.
func TestForeignHosts(t *testing.T) {
	s, _ := personalSite(func(c *Config) { c.Front = noFront{} })
	s.trusted = false
	for _, target := range []string{"/", "/group/news", "/livez", "/healthz", "/readyz", "/metrics", "/api/v1/status", "/api/v1/ring",
		"/api/v1/catalog/news", "/api/v1/entries", "/api/v1/entries.atom", "/api/v1/stream", "/feeds/secret0.atom", "/nothing", "/style.css"} {
		for host, refused := range map[string]bool{"evil.example": true, "evil.example:7378": true, "127.0.0.2:7378": true} {
			if w := call(t, s, "GET", target, "", "Host: "+host); (w.Code == 403 && strings.Contains(w.Body.String(), "--public-url")) != refused {
				t.Errorf("%s at %s: %d", target, host, w.Code)
			}
		}
	}
	if w := call(t, s, "GET", "/f/a.example/feed", "", "Host: a.example"); w.Code != 200 {
		t.Errorf("a published feed in its site's place: %d", w.Code)
	}
}

type noFront struct{}

func (noFront) Answer(w http.ResponseWriter, _ *http.Request, _ string) error {
	_, err := io.WriteString(w, "<rss/>")
	return err
}

func TestReachedByItsOwnAddress(t *testing.T) {
	s := newSite(Config{Backend: newFake(), Token: testToken, Address: "[::]:7378"}, false)
	server := httptest.NewServer(s) // at 127.0.0.1, which is known anyway
	defer server.Close()
	r := httptest.NewRequest("GET", "/", nil)
	r.Host = "192.0.2.7:7378"
	if s.knownHost(r) {
		t.Error("an address at which nobody arrived is known")
	}
	resp, err := http.Get(server.URL + "/api/v1/status")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Error(resp.Status)
	}
}

func TestHeaderJSON(t *testing.T) {
	many := make([]string, 500)
	for i := range many {
		many[i] = fmt.Sprintf("news/é😀%d", i)
	}
	e := feedring.FinalEvent(feedring.Final{Status: feedring.Incomplete, Missing: many}, "news", 1)
	text := headerJSON(e)
	var back feedring.Event
	if err := json.Unmarshal([]byte(text), &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Missing) != maxNamed || back.Missing[7] != many[7] {
		t.Errorf("%v", back.Missing)
	}
	if len(e.Missing) != len(many) {
		t.Error("the event itself was cut")
	}
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' {
			t.Fatalf("byte %q cannot stand in a header: %s", c, text)
		}
	}
}
