package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// people keeps users and invitations.
type people struct {
	keys   map[string]string // ids by key
	codes  map[string]*UserInvitation
	away   bool
	silent []feedring.PeerID // who did not answer for lists
	asked  int               // for keys and codes
}

func (p *people) User(_ context.Context, key string) (string, error) {
	p.asked++
	if p.away {
		return "", &AwayError{}
	}
	if id, ok := p.keys[key]; ok {
		return id, nil
	}
	return "", ErrUnknown.Of(errors.New("no such user"))
}

func (p *people) Join(_ context.Context, code string) (string, error) {
	p.asked++
	i := p.codes[code]
	if i == nil || i.Used >= i.Uses {
		return "", ErrUnknown.Of(errors.New("no such invitation"))
	}
	i.Used++
	key := fmt.Sprint(UserKeyPrefix, "key", len(p.keys))
	p.keys[key] = fmt.Sprint("u", len(p.keys))
	return key, nil
}

func (p *people) InviteUser(_ context.Context, i UserInvitation) (UserInvitation, error) {
	i.ID, i.Code, i.Created = fmt.Sprint("i", len(p.codes)), fmt.Sprint("code", len(p.codes)), testNow
	p.codes[i.Code] = &i
	return i, nil
}

func (p *people) UserInvitations(context.Context) (all []UserInvitation, err error) {
	for _, i := range p.codes {
		told := *i
		told.Code = ""
		all = append(all, told)
	}
	return all, nil
}

func (p *people) Users(context.Context) (all []User, err error) {
	for _, id := range p.keys {
		all = append(all, User{ID: id})
	}
	if p.silent != nil {
		err = &SilentError{p.silent}
	}
	return all, err
}

func (p *people) RevokeInvitation(context.Context, string) error { return nil }

func (p *people) RevokeUser(_ context.Context, id string) error {
	for key, user := range p.keys {
		if user == id {
			delete(p.keys, key)
			return nil
		}
	}
	return ErrUnknown.Of(errors.New("no such user"))
}

func usersSite() (*site, *people, *readers) {
	p := &people{keys: make(map[string]string), codes: make(map[string]*UserInvitation)}
	s, r := personalSite(func(c *Config) { c.Users, c.PublicURL = p, "https://news.example" })
	return s, p, r
}

const fromBrowser = "Origin: https://news.example"

// TestAnInvitationMakesAUser: the owner invites, somebody accepts, and has personal feeds
// with the key, from a page or a program, and nothing else.
func TestAnInvitationMakesAUser(t *testing.T) {
	s, _, _ := usersSite()
	w := call(t, s, "POST", "/api/v1/invitations", `{"quota":7,"uses":1,"expires_s":3600,"note":"for Ada"}`, withToken)
	var made UserInvitation
	if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil || w.Code != 201 {
		t.Fatal(w.Code, w.Body, err)
	}
	if made.URL != "https://news.example/join/code0" || made.Quota != 7 || made.Uses != 1 || !made.Expires.Equal(testNow.Add(time.Hour)) || made.Note != "for Ada" {
		t.Errorf("%+v", made)
	}
	if w := call(t, s, "GET", "/join/code0", ""); w.Code != 200 || !strings.Contains(w.Body.String(), "Accept the invitation") || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w = call(t, s, "POST", "/join/code0", "", fromBrowser, "Host: news.example")
	cookie := w.Result().Cookies()
	if w.Code != 201 || !strings.Contains(w.Body.String(), "user-key0") || len(cookie) != 1 || !cookie[0].HttpOnly || cookie[0].SameSite != http.SameSiteStrictMode || !cookie[0].Secure {
		t.Fatalf("%d %v %s", w.Code, cookie, w.Body)
	}
	if w := call(t, s, "POST", "/join/code0", "", fromBrowser); w.Code != 404 || !strings.Contains(w.Body.String(), "another one") {
		t.Errorf("the code is good for a second: %d %s", w.Code, w.Body)
	}
	page := "Cookie: " + cookie[0].Name + "=" + cookie[0].Value
	if w := call(t, s, "POST", "/subscribe", "q=gaz", page, fromBrowser, "Content-Type: application/x-www-form-urlencoded"); w.Code != 303 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if w := call(t, s, "GET", "/", "", page); w.Code != 200 || !strings.Contains(w.Body.String(), "/feeds/secret0.atom") || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %s", w.Code, w.Header())
	}
	const key = "Authorization: Bearer user-key0"
	if w := call(t, s, "GET", "/api/v1/subscriptions", "", key); w.Code != 200 || !strings.Contains(w.Body.String(), `"id0"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := call(t, s, "GET", "/api/v1/subscriptions", "", withToken); w.Code != 200 || w.Body.String() != "[]\n" {
		t.Errorf("the owner is shown a user's feeds: %d %s", w.Code, w.Body)
	}
	for _, of := range []string{
		"GET /api/v1/feeds", "POST /api/v1/feeds", "DELETE /api/v1/entries", "GET /api/v1/users", "GET /api/v1/fleet", "POST /api/v1/invitations", "DELETE /api/v1/users/u0",
		"GET /api/v1/doctor", "POST /api/v1/join", "GET /api/v1/blocks",
	} {
		method, path, _ := strings.Cut(of, " ")
		if w := call(t, s, method, path, "{}", key); w.Code != 403 || !strings.Contains(w.Body.String(), "owner") {
			t.Errorf("%s with a user's key: %d %s", of, w.Code, w.Body)
		}
	}
	if w := call(t, s, "GET", "/api/v1/entries?limit=1", "", key); w.Code != 200 || strings.Contains(w.Body.String(), "secret.example") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := call(t, s, "POST", "/signin", "token=user-key0", fromBrowser, "Content-Type: application/x-www-form-urlencoded"); w.Code != 303 || len(w.Result().Cookies()) != 1 {
		t.Errorf("%d %v", w.Code, w.Result().Cookies())
	}
	if w := call(t, s, "POST", "/signout", "", page, fromBrowser); w.Code != 303 || len(w.Result().Cookies()) != 2 {
		t.Errorf("%d %v", w.Code, w.Result().Cookies())
	}

	// The open page of a user who is revoked: it may do nothing more.
	if w := call(t, s, "DELETE", "/api/v1/users/u0", "", withToken); w.Code != 204 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if w := call(t, s, "POST", "/revoke", "id=id0", page, fromBrowser, "Content-Type: application/x-www-form-urlencoded"); w.Code != 403 || !strings.Contains(w.Body.String(), "key is not valid here any more") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := call(t, s, "GET", "/", "", page); w.Code != 200 || strings.Contains(w.Body.String(), "secret0") || !strings.Contains(w.Body.String(), "key is not valid here any more") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := call(t, s, "GET", "/api/v1/subscriptions", "", key); w.Code != 401 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestUsersRefused(t *testing.T) {
	s, p, _ := usersSite()
	for _, c := range []struct {
		method, path, body string
		headers            []string
		code               int
		says               string
	}{
		{"POST", "/api/v1/invitations", `{}`, nil, 401, "token"},
		{"POST", "/api/v1/invitations", `{"quota":0}`, []string{withToken}, 400, "quota"},
		{"POST", "/api/v1/invitations", `{"quota":-3}`, []string{withToken}, 400, "quota"},
		{"POST", "/api/v1/invitations", `{"uses":0}`, []string{withToken}, 400, "uses"},
		{"POST", "/api/v1/invitations", `{"expires_s":0}`, []string{withToken}, 400, "expires_s"},
		{"POST", "/api/v1/invitations", `{"expires_s":99999999999}`, []string{withToken}, 400, "a year"},
		{"POST", "/api/v1/invitations", `{"note":"` + strings.Repeat("x", maxNote+1) + `"}`, []string{withToken}, 400, "note"},
		{"POST", "/api/v1/invitations", `{"name":"x"}`, []string{withToken}, 400, "name"},
		{"POST", "/join/nothing", ``, []string{fromBrowser}, 404, "not valid"},
		{"POST", "/join/nothing", ``, []string{"Origin: https://evil.example"}, 403, "origin"},
		{"GET", "/api/v1/subscriptions", ``, []string{"Authorization: Bearer user-guess"}, 401, "token"},
		{"GET", "/api/v1/subscriptions", ``, nil, 401, "user's key"},
		{"DELETE", "/api/v1/users/none", ``, []string{withToken}, 404, "no such"},
	} {
		w := call(t, s, c.method, c.path, c.body, c.headers...)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, w.Code, w.Body)
		}
	}
	p.keys["user-key"], p.away = "u", true
	if w := call(t, s, "GET", "/api/v1/subscriptions", "", "Authorization: Bearer user-key"); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("the peers that know the user are away: %d %v", w.Code, w.Header())
	}
	// A cookie changes something only if a browser says where it comes from.
	p.away = false
	if w := call(t, s, "POST", "/subscribe", "q=gaz", "Cookie: feedring-user=user-key", "Content-Type: application/x-www-form-urlencoded"); w.Code == 303 {
		t.Errorf("%d", w.Code)
	}

	alone, _ := personalSite()
	for _, path := range []string{"/api/v1/invitations", "/api/v1/users", "/api/v1/fleet"} {
		if w := call(t, alone, "GET", path, "", withToken); w.Code != 409 || !strings.Contains(w.Body.String(), "--fleet-key") {
			t.Errorf("%s of a peer in no fleet: %d %s", path, w.Code, w.Body)
		}
		alone.LeftFleet = true
		if w := call(t, alone, "GET", path, "", withToken); w.Code != 409 || strings.Contains(w.Body.String(), "fleet new") || !strings.Contains(w.Body.String(), "started with the fleet's key") {
			t.Errorf("%s of a peer that left its fleet: %d %s", path, w.Code, w.Body)
		}
		alone.LeftFleet = false
	}
	if w := call(t, alone, "GET", "/join/code", ""); w.Code != 404 {
		t.Errorf("%d", w.Code)
	}
}

// What only the fleet knows is not told to be gone by a peer that has left it, whichever way
// it is asked for. What the peer knows by itself is answered as ever.
func TestAPeerThatLeftItsFleetSaysOfNothingThatItIsGone(t *testing.T) {
	const key, cookie, form = "Authorization: Bearer user-key", "Cookie: feedring-user=user-key", "Content-Type: application/x-www-form-urlencoded"
	var logged bytes.Buffer
	left := func(c *Config) {
		c.LeftFleet, c.PublicURL, c.Logger = true, "https://news.example", slog.New(slog.NewTextHandler(&logged, nil))
	}
	s, _ := personalSite(left)
	for _, c := range []struct {
		method, path, body string
		headers            []string
		code               int
	}{
		{"GET", "/feeds/nobodys.atom", "", nil, 503},
		{"HEAD", "/feeds/nobodys.rss", "", nil, 503},
		{"GET", "/feeds/nobodys.json", "", []string{"If-None-Match: \"1\"", "Accept: text/html"}, 503},
		{"GET", "/api/v1/subscriptions", "", []string{key}, 503},
		{"POST", "/api/v1/subscriptions", `{"theme":"news"}`, []string{key}, 503},
		{"DELETE", "/api/v1/subscriptions/id", "", []string{key}, 503},
		{"POST", "/signin", "token=user-key", []string{fromBrowser, form}, 503},
		{"POST", "/subscribe", "q=gaz", []string{cookie, fromBrowser, form}, 503},
		{"POST", "/revoke", "id=id", []string{cookie, fromBrowser, form, "Accept: text/html"}, 503},
		{"GET", "/join/code", "", []string{"Accept: text/html"}, 503},
		{"POST", "/join/code", "", []string{fromBrowser}, 503},

		{"GET", "/feeds/s3cret.atom", "", nil, 200},
		{"GET", "/feeds/nobodys.gif", "", nil, 404},
		{"GET", "/", "", []string{cookie}, 200},
		{"GET", "/api/v1/subscriptions", "", []string{withToken}, 200},
		{"GET", "/api/v1/subscriptions", "", []string{"Authorization: Bearer guess"}, 401},
		{"GET", "/api/v1/subscriptions", "", nil, 401},
		{"POST", "/api/v1/subscriptions", `{"theme":"news"}`, []string{cookie}, 401},
		{"GET", "/readyz", "", nil, 200},
	} {
		w := call(t, s, c.method, c.path, c.body, c.headers...)
		told := strings.Contains(w.Body.String(), "not in its fleet now") && strings.Contains(w.Body.String(), "without --fleet-key") && w.Header().Get("Retry-After") == "30"
		if w.Code != c.code || told != (c.code == 503) {
			t.Errorf("%s %s %q: %d %v %s", c.method, c.path, c.headers, w.Code, w.Header(), w.Body)
		}
	}
	if logged.Len() > 0 {
		t.Errorf("each poll is logged: %s", &logged)
	}
	closed, _ := personalSite(left, func(c *Config) { c.Members = membersOf{true, false} })
	for _, path := range []string{"/feeds/nobodys.atom", "/join/code"} {
		if w := call(t, closed, "GET", path, ""); w.Code != 503 {
			t.Errorf("%s in a closed network: %d %s", path, w.Code, w.Body)
		}
	}
	if w := call(t, closed, "GET", "/api/v1/subscriptions", "", key); w.Code != 503 {
		t.Errorf("a key in a closed network: %d %s", w.Code, w.Body)
	}
}

// A list for which some peers did not answer says so, and is shown all the same.
func TestAListSaysWhoWasSilent(t *testing.T) {
	s, p, r := usersSite()
	p.keys["user-key"] = "u"
	r.subs = []Subscription{{ID: "u", Secret: "secret"}}
	for _, path := range []string{"/api/v1/users", "/api/v1/subscriptions"} {
		p.silent, r.silent = nil, nil
		if w := call(t, s, "GET", path, "", withToken); w.Code != 200 || w.Header()[SilentHeader] != nil {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
		p.silent = []feedring.PeerID{"12D3A", "12D3B"}
		r.silent = &SilentError{p.silent}
		if w := call(t, s, "GET", path, "", withToken); w.Code != 200 || w.Header().Get(SilentHeader) != "12D3A, 12D3B" || !strings.Contains(w.Body.String(), `"u"`) {
			t.Errorf("%s: %d %v %s", path, w.Code, w.Header(), w.Body)
		}
	}
	if w := call(t, s, "GET", "/", "", withToken); !strings.Contains(w.Body.String(), "/feeds/secret.atom") || !strings.Contains(w.Body.String(), "12D3A") {
		t.Errorf("the page: %d %s", w.Code, w.Body)
	}
	r.silent = &AwayError{}
	if w := call(t, s, "GET", "/api/v1/subscriptions", "", withToken); w.Code != 503 {
		t.Errorf("another error: %d %s", w.Code, w.Body)
	}
}

// TestGuessedKeysAreFew: keys and codes share the bound of tokens.
func TestGuessedKeysAreFew(t *testing.T) {
	s, _, _ := usersSite()
	s.loopback = false
	refusedAt := 0
	for i := range 200 {
		w := call(t, s, "POST", fmt.Sprint("/join/guess", i), "", fromBrowser)
		if w.Code == 429 {
			if refusedAt = i; !strings.Contains(w.Body.String(), "invitations came from your address: wait 12 seconds") {
				t.Errorf("whoever was invited is told %s", w.Body)
			}
			break
		}
	}
	if refusedAt == 0 {
		t.Error("200 codes were guessed")
	}
	if w := call(t, s, "POST", "/subscribe", "q=gaz", "Cookie: feedring-user=user-guess", fromBrowser, "Content-Type: application/x-www-form-urlencoded"); w.Code != 429 {
		t.Errorf("and then a key: %d", w.Code)
	}
	// The cookie of a revoked user shuts nobody out of what everybody sees.
	if w := call(t, s, "GET", "/", "", "Cookie: feedring-user=user-revoked"); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A feed of a fleet names a hub as any personal feed does: each peer passes to the one that
// serves the feed what is asked of the hub.
func TestAFeedOfAFleetNamesAHub(t *testing.T) {
	s, _, r := usersSite()
	for _, ofFleet := range []bool{false, true} {
		r.mu.Lock()
		r.state.Fleet = ofFleet
		r.mu.Unlock()
		if w := call(t, s, "GET", "/feeds/s3cret.atom", ""); w.Code != 200 || !strings.Contains(w.Header().Get("Link"), `rel="hub"`) || !strings.Contains(w.Body.String(), "/hub") {
			t.Errorf("%t: %d %v", ofFleet, w.Code, w.Header())
		}
	}
}

type otherFleet = interface {
	Fleet(context.Context) (FleetStatus, error)
}

// elsewhere answers for another peer of the fleet.
type elsewhere struct {
	otherFleet
	asked []string
	fails error
}

func (e *elsewhere) Elsewhere(w http.ResponseWriter, _ *http.Request, secret, base string) (bool, error) {
	e.asked = append(e.asked, secret+" "+base)
	if e.fails != nil {
		return false, e.fails
	}
	if secret != "theirs" {
		return false, nil
	}
	w.WriteHeader(http.StatusNotModified)
	return true, nil
}

// What is not open here is asked of the fleet, once, by the base that readers use; that its
// peers are away is no end of the feed.
func TestAFeedThatIsNotHereIsAskedOfTheFleet(t *testing.T) {
	e := &elsewhere{}
	s, _ := personalSite(func(c *Config) { c.Fleet = e })
	for path, code := range map[string]int{"/feeds/theirs.atom": 304, "/feeds/nobodys.rss": 404, "/feeds/s3cret.json": 200, "/feeds/bad": 404} {
		if w := call(t, s, "GET", path, ""); w.Code != code {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	for _, asked := range e.asked {
		if asked != "theirs https://news.example/ring" && asked != "nobodys https://news.example/ring" {
			t.Errorf("asked for %q", asked)
		}
	}
	if len(e.asked) != 2 {
		t.Errorf("asked %q", e.asked)
	}
	e.fails = &AwayError{}
	if w := call(t, s, "GET", "/feeds/nobodys.rss", ""); w.Code != 503 || w.Header().Get("Retry-After") != "30" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	// A reader cannot say what addresses begin with: only the fleet's peers do.
	if w := call(t, s, "GET", "/feeds/s3cret.atom", "", BaseHeader+": https://evil.example"); strings.Contains(w.Body.String(), "evil.example") || strings.Contains(w.Header().Get("Link"), "evil.example") {
		t.Errorf("%v", w.Header())
	}
}

// Whoever guesses keys, codes or addresses has nobody asked after a few: other peers of the
// fleet are asked for each. Who asks from another address is served.
func TestNobodyIsAskedForWhoeverGuesses(t *testing.T) {
	for name, guess := range map[string]struct {
		r    func(n int) *http.Request
		most int
		last int // status; of a page that is shown as to everybody 200
	}{
		"keys": {func(n int) *http.Request {
			r := httptest.NewRequest("GET", "/api/v1/subscriptions", nil)
			r.Header.Set("Authorization", fmt.Sprint("Bearer user-no", n))
			return r
		}, guesses, 429},
		"cookies": {func(n int) *http.Request {
			r := httptest.NewRequest("GET", "/", nil)
			r.AddCookie(&http.Cookie{Name: userCookie, Value: fmt.Sprint("user-no", n)})
			return r
		}, guesses, 200},
		"codes": {func(n int) *http.Request {
			r := httptest.NewRequest("POST", fmt.Sprint("/join/no", n), nil)
			r.Header.Set("Origin", "https://news.example")
			return r
		}, guesses, 429},
		"addresses": {func(n int) *http.Request { return httptest.NewRequest("GET", fmt.Sprintf("/feeds/no%d.atom", n), nil) }, strays, 429},
	} {
		p := &people{keys: map[string]string{"user-right": "u"}, codes: make(map[string]*UserInvitation)}
		e := &elsewhere{}
		s, _ := personalSite(func(c *Config) { c.Users, c.Fleet, c.PublicURL = p, e, "https://news.example" })
		ask := func(from string, r *http.Request) int {
			r.Host, r.RemoteAddr = "news.example", from
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			return w.Code
		}
		last := 0
		for n := range 2 * guess.most {
			last = ask("192.0.2.1:1", guess.r(n))
		}
		if asked := p.asked + len(e.asked); asked != guess.most || last != guess.last {
			t.Errorf("%s: the fleet was asked %d times, and the last answer is %d", name, asked, last)
		}
		before := p.asked + len(e.asked)
		ask("192.0.2.1:1", guess.r(-1))
		if asked := p.asked + len(e.asked); asked != before {
			t.Errorf("%s: the fleet is asked once more", name)
		}
		if ask("192.0.2.2:1", guess.r(-2)); p.asked+len(e.asked) == before {
			t.Errorf("%s: nobody is asked for another address", name)
		}
		right := httptest.NewRequest("GET", "/api/v1/subscriptions", nil)
		right.Header.Set("Authorization", "Bearer user-right")
		if code := ask("192.0.2.2:1", right); code != 200 {
			t.Errorf("%s: a right key from another address: %d", name, code)
		}
	}
}
