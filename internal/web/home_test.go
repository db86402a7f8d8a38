package web

import (
	"errors"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

const browser = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"

// pageOf asks for a page as a browser does, and returns it with its characters
// as they are shown.
func pageOf(t *testing.T, s *site, target string, status int, headers ...string) string {
	t.Helper()
	w := call(t, s, "GET", target, "", append(headers, browser)...)
	if w.Code != status || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("%s: %d %v", target, w.Code, w.Header())
	}
	return html.UnescapeString(w.Body.String())
}

func TestHomeShowsEntries(t *testing.T) {
	f := newFake()
	for n := range 30 {
		f.entries = append(f.entries, entryAt(n, time.Duration(n)*time.Hour))
	}
	s := testSite(f, false)
	page := pageOf(t, s, "/", 200)
	if n := strings.Count(page, "<li data-id="); n != newestShown || !strings.Contains(page, `data-stream="api/v1/stream?updates=true&view=page&limit=20"`) {
		t.Errorf("%d entries are shown: %s", n, page)
	}
	page = pageOf(t, s, "/?theme=news&q=gaz&since=25h&limit=10&provider=", 200)
	for _, want := range []string{"Results", ">Entry 9</a>", `value="gaz"`, `value="25h"`, "api/v1/stream?updates=true&view=page&limit=10&q=gaz&since=2026-03-03T11:00:00Z&theme=news"} {
		if !strings.Contains(strings.ReplaceAll(page, "%3A", ":"), want) {
			t.Errorf("the results lack %s:\n%s", want, page)
		}
	}
	if got := f.asked[len(f.asked)-1]; got.Words != "gaz" || got.Theme != "news" || got.Private {
		t.Errorf("asked %+v", got)
	}
	shown := 10
	for next := regexp.MustCompile(`href="(\?[^"]*cursor=[^"#]*)`); ; shown += 10 {
		m := next.FindStringSubmatch(page)
		if m == nil {
			break
		}
		if page = pageOf(t, s, "/"+m[1], 200); strings.Contains(page, "Entry 9<") || !strings.Contains(page, `data-stream=""`) {
			t.Fatalf("older entries: %s", page)
		}
	}
	if shown != 30 {
		t.Errorf("the pages end after %d entries", shown)
	}
}

func TestHomeSaysWhatIsWrong(t *testing.T) {
	for target, want := range map[string]string{
		"/?q=a+AND":              "<pre aria-label=\"The place of the fault\">a AND\n     ^</pre>",
		"/?theme=a+b":            `theme "a b"`,
		"/?since=tomorrow":       `name="since" list="ages" placeholder="36h, 7d, date" aria-invalid="true"`,
		"/?provider=a%20b":       `name="provider" placeholder="lemonde.fr" autocapitalize="none" aria-invalid="true"`,
		"/?q=a&q=b":              "give it once",
		"/?cursor=x":             "no cursor",
		"/?since=0":              `name="since" list="ages" placeholder="36h, 7d, date" aria-invalid="true"`,
		"/?since=2030-01-01":     `since "2030-01-01" is not in the past`,
		"/?q=%3Cscript%3E(":      `value="<script>("`,
		"/?theme=x&since=b&q=(a": `role="alert"`,
	} {
		if page := pageOf(t, testSite(newFake(), false), target, 400); !strings.Contains(page, want) || !strings.Contains(page, `role="alert"`) {
			t.Errorf("%s lacks %s:\n%s", target, want, page)
		}
	}
}

func TestHomeOfAFinal(t *testing.T) {
	for want, final := range map[string]feedring.Final{
		"Nobody serves that: did you mean sport?":                      {Status: feedring.Unsatisfied, Suggest: []string{"sport"}},
		"Not everybody answered in time. Missing: weather, news/le.fr": {Status: feedring.Incomplete, Missing: []string{"weather", "news/le.fr"}},
	} {
		f := newFake()
		f.final = final
		if page := pageOf(t, testSite(f, false), "/?theme=sprot", 200); !strings.Contains(page, want) {
			t.Errorf("no %q: %s", want, page)
		}
	}
}

// A browser is told of an error in a page, and may load nothing else there.
func TestErrorsArePages(t *testing.T) {
	f := newFake()
	if page := pageOf(t, testSite(f, false), "/group/nobody", 404); !strings.Contains(page, "no group publishes nobody") || !strings.Contains(page, `href="../style.css"`) {
		t.Error(page)
	}
	f.fails = errors.New("no peer answers")
	if page := pageOf(t, testSite(f, false), "/", 503); !strings.Contains(page, "no peer answers") || !strings.Contains(page, `href="style.css"`) {
		t.Error(page)
	}
}

// What pages load is what they name, and the same next time.
func TestAssets(t *testing.T) {
	s := testSite(newFake(), false)
	page := pageOf(t, s, "/", 200)
	for _, name := range []string{"style.css", "page.js"} {
		w := call(t, s, "GET", "/"+name, "")
		tag := w.Header().Get("Etag")
		if !strings.Contains(page, name+`" integrity="`+strings.Trim(tag, `"`)+`"`) {
			t.Errorf("%s with the tag %s is not what the page names", name, tag)
		}
		if w := call(t, s, "GET", "/"+name, "", "If-None-Match: "+tag); w.Code != 304 || w.Body.Len() > 0 {
			t.Errorf("%s again: %d", name, w.Code)
		}
	}
}

// submit sends a form as a browser does from this peer's own page.
func submit(t *testing.T, s *site, target string, form url.Values, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	headers = append([]string{"Content-Type: application/x-www-form-urlencoded", browser}, headers...)
	return call(t, s, "POST", target, form.Encode(), headers...)
}

const sameOrigin = "Sec-Fetch-Site: same-origin"

// session signs in and returns the cookie as it is sent back.
func session(t *testing.T, s *site) string {
	t.Helper()
	w := submit(t, s, "/signin", url.Values{"token": {" " + s.Token + "\n"}}, sameOrigin)
	cookies := w.Result().Cookies()
	if w.Code != 303 || w.Header().Get("Location") != "./#personal" || len(cookies) != 1 {
		t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if c := cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || strings.Contains(c.Value, testToken) {
		t.Errorf("cookie %v", c)
	}
	return "Cookie: " + cookies[0].Name + "=" + cookies[0].Value
}

func TestSession(t *testing.T) {
	s, p := personalSite()
	f := s.Backend.(*fake)
	f.private = []feedring.Entry{{ID: "p", Title: "A private entry", Published: testNow}}
	cookie := session(t, s)
	page := pageOf(t, s, "/", 200, cookie)
	if !strings.Contains(page, "A private entry") || !strings.Contains(page, "secret.example") || !strings.Contains(page, "Sign out") {
		t.Errorf("the owner does not see what is private: %s", page)
	}
	if w := call(t, s, "GET", "/", "", cookie, "Accept-Encoding: gzip"); w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Content-Encoding") != "" {
		t.Errorf("the owner's page: %v", w.Header())
	}
	if w := submit(t, s, "/subscribe", url.Values{"q": {"gaz"}, "theme": {"news"}, "provider": {""}, "since": {""}}, sameOrigin, cookie); w.Code != 303 || w.Header().Get("Location") != "./?made=id0#feed-id0" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	page = pageOf(t, s, "/", 200, cookie)
	if !strings.Contains(page, "gaz in news</h3>") || !strings.Contains(page, `href="https://news.example/ring/feeds/secret0.json"`) {
		t.Errorf("the feed is not shown: %s", page)
	}
	if w := submit(t, s, "/subscribe", url.Values{"q": {"(gaz"}}, sameOrigin, cookie); w.Code != 400 || !strings.Contains(w.Body.String(), `id="personal-problem"`) {
		t.Errorf("bad words: %d %s", w.Code, w.Body)
	}
	if w := submit(t, s, "/revoke", url.Values{"id": {"id0"}}, sameOrigin, cookie); w.Code != 303 || len(p.subs) != 0 {
		t.Errorf("revoked: %d %v", w.Code, p.subs)
	}
	if w := submit(t, s, "/revoke", url.Values{"id": {"id0"}}, sameOrigin, cookie); w.Code != 404 {
		t.Errorf("revoked again: %d", w.Code)
	}
	w := submit(t, s, "/signout", nil, sameOrigin, cookie)
	if c := w.Result().Cookies(); w.Code != 303 || len(c) != 1 || c[0].MaxAge >= 0 || c[0].Value != "" {
		t.Errorf("signed out: %v", c)
	}
}

// Without the token nothing private is on a page, and nothing is changed.
func TestNoSession(t *testing.T) {
	s, p := personalSite()
	p.subs = []Subscription{{ID: "id0", Secret: "secret0"}}
	s.Backend.(*fake).private = []feedring.Entry{{ID: "p", Title: "A private entry", Published: testNow}}
	cookie := session(t, s)
	name, value, _ := strings.Cut(strings.TrimPrefix(cookie, "Cookie: "), "=")
	other, _ := personalSite(func(c *Config) { c.Token = "another-token-of-the-tests" })
	for what, headers := range map[string][]string{
		"none": nil, "of another": {session(t, other)},
		"longer": {"Cookie: " + name + "=9" + value}, "shorter": {"Cookie: " + name + "=" + value[1:]},
		"nothing": {"Cookie: " + name + "="}, "the token": {"Cookie: " + name + "=" + testToken},
	} {
		page := pageOf(t, s, "/", 200, headers...)
		if strings.Contains(page, "private entry") || strings.Contains(page, "secret0") || strings.Contains(page, "secret.example") || !strings.Contains(page, `id="token"`) {
			t.Errorf("%s: %s", what, page)
		}
		for _, target := range []string{"/subscribe", "/revoke"} {
			if w := submit(t, s, target, url.Values{"id": {"id0"}}, append(headers, sameOrigin)...); w.Code != 403 || len(p.subs) != 1 {
				t.Errorf("%s: %s: %d", what, target, w.Code)
			}
		}
		if w := call(t, s, "GET", "/api/v1/subscriptions", "", headers...); w.Code < 400 {
			t.Errorf("%s: the API: %d", what, w.Code)
		}
	}
	for what, headers := range map[string][]string{
		"a foreign origin":       {"Origin: https://evil.example"},
		"another port":           {"Origin: http://127.0.0.1:9999", "Sec-Fetch-Site: same-site"},
		"a foreign page":         {"Sec-Fetch-Site: cross-site"},
		"a frame without one":    {"Origin: null"},
		"nobody says from where": {},
	} {
		for _, target := range []string{"/subscribe", "/revoke"} {
			if w := submit(t, s, target, url.Values{"id": {"id0"}}, append(headers, cookie)...); w.Code != 403 || len(p.subs) != 1 {
				t.Errorf("%s: %s: %d %s", what, target, w.Code, w.Body)
			}
		}
		if w := call(t, s, "POST", "/api/v1/subscriptions", `{"q":"x"}`, append(headers, cookie)...); w.Code < 400 {
			t.Errorf("%s: the API: %d", what, w.Code)
		}
	}
	for _, token := range []string{"", "no", testToken + "x"} {
		w := submit(t, s, "/signin", url.Values{"token": {token}}, sameOrigin)
		if w.Code != 403 || len(w.Result().Cookies()) > 0 || !strings.Contains(w.Body.String(), "not this peer’s token") {
			t.Errorf("token %q: %d %v", token, w.Code, w.Header())
		}
	}
	if w := submit(t, s, "/signin", url.Values{"token": {testToken}}, "Sec-Fetch-Site: cross-site"); w.Code != 403 {
		t.Errorf("signed in by a foreign page: %d", w.Code)
	}
	s.now = func() time.Time { return testNow.Add(sessionLasts) }
	if page := pageOf(t, s, "/", 200, cookie); strings.Contains(page, "secret0") {
		t.Error("a session of yesterday still opens")
	}
	tokenless, _ := personalSite(func(c *Config) { c.Token = "" })
	tokenless.trusted = false
	if w := submit(t, tokenless, "/signin", url.Values{"token": {""}}, sameOrigin); w.Code != 403 {
		t.Errorf("no token opens a peer without one: %d", w.Code)
	}
}

// The script follows as its reader: with the session, private feeds too.
func TestStreamOfASession(t *testing.T) {
	s, _ := personalSite()
	cookie := session(t, s)
	for want, headers := range map[bool][]string{true: {cookie}, false: nil} {
		r := httptest.NewRequest("GET", "/api/v1/stream", nil)
		r.Host = "127.0.0.1:7378"
		for _, h := range headers {
			r.Header.Set("Cookie", strings.TrimPrefix(h, "Cookie: "))
		}
		if ask, _, err := s.askStream(r); err != nil || ask.Private != want {
			t.Errorf("%v: %+v %v", headers, ask, err)
		}
	}
}

// TestSignedOut: who signs out takes the cookie with them, and whoever copied it.
func TestSignedOut(t *testing.T) {
	s, _ := personalSite()
	cookie, other := session(t, s), session(t, s)
	if w := submit(t, s, "/signout", nil, sameOrigin, cookie); w.Code != 303 {
		t.Fatal(w.Code)
	}
	for c, want := range map[string]int{cookie: 401, other: 200} {
		if w := call(t, s, "GET", "/api/v1/subscriptions", "", c); w.Code != want {
			t.Errorf("status %d, want %d", w.Code, want)
		}
	}
	again, _ := personalSite() // the same peer, started again
	if w := call(t, again, "GET", "/api/v1/subscriptions", "", other); w.Code != 401 {
		t.Errorf("after a restart: %d", w.Code)
	}
}

func TestSessionsAreFew(t *testing.T) {
	var table sessions
	first := table.begin(testNow)
	last := ""
	for n := range maxSessions {
		last = table.begin(testNow.Add(time.Duration(n+1) * time.Second))
	}
	if len(table.until) != maxSessions || table.holds(first, testNow) || !table.holds(last, testNow) {
		t.Errorf("%d sessions; the first holds: %t", len(table.until), table.holds(first, testNow))
	}
	if ends := testNow.Add(maxSessions*time.Second + sessionLasts); table.holds(last, ends) || len(table.until) != maxSessions-1 {
		t.Errorf("a session lasts for ever: %d", len(table.until))
	}
}

// TestWrongTokens: who guesses waits, and whoever knows the token does not.
func TestWrongTokens(t *testing.T) {
	s, _ := personalSite()
	ask := func(remote, token string) int {
		r := httptest.NewRequest("GET", "/api/v1/subscriptions", nil)
		r.Host, r.RemoteAddr = "127.0.0.1:7378", remote
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code
	}
	for n := range 2 * guesses {
		want := 401
		if n >= guesses {
			want = 429
		}
		if got := ask("192.0.2.1:1", "no"); got != want {
			t.Errorf("wrong token %d: %d", n, got)
		}
	}
	if got := ask("192.0.2.1:1", testToken); got != 200 {
		t.Errorf("the right one: %d", got)
	}
	if got := ask("192.0.2.2:1", "no"); got != 401 {
		t.Errorf("another address: %d", got)
	}
	for range guesses {
		r := httptest.NewRequest("POST", "/signin", strings.NewReader("token=no"))
		r.Host, r.RemoteAddr = "127.0.0.1:7378", "192.0.2.3:1"
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://127.0.0.1:7378")
		s.ServeHTTP(httptest.NewRecorder(), r)
	}
	if got := ask("192.0.2.3:1", "no"); got != 429 {
		t.Errorf("after wrong ones in the form: %d", got)
	}
}
