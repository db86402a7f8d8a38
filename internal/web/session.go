package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// sessionLasts is how long a browser that was given the token need not be given it
	// again.
	sessionLasts = 24 * time.Hour
	// maxSessions is how many browsers of the owner are signed in at once.
	maxSessions = 64
)

// sessions are the browsers that were given the token. They are kept in memory alone:
// a restart ends them. The zero table is empty.
type sessions struct {
	mu    sync.Mutex
	until map[string]time.Time // by the cookie's value
}

// begin returns the value of a new session's cookie. In a full table the session that
// would end first ends.
func (t *sessions) begin(now time.Time) string {
	id := rand.Text()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.until == nil {
		t.until = make(map[string]time.Time)
	}
	if len(t.until) >= maxSessions {
		first := ""
		for other, ends := range t.until {
			if first == "" || ends.Before(t.until[first]) {
				first = other
			}
		}
		delete(t.until, first)
	}
	t.until[id] = now.Add(sessionLasts)
	return id
}

// holds reports whether a session lasts.
func (t *sessions) holds(id string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	ends, ok := t.until[id]
	if ok && !now.Before(ends) {
		delete(t.until, id)
		ok = false
	}
	return ok
}

func (t *sessions) end(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.until, id)
}

// sessionName is the cookie's. Cookies are shared by all ports of a host, and
// so by all peers on it: each has its own name.
func (s *site) sessionName() string {
	sum := sha256.Sum256(append([]byte("feedring page session\x00"), s.token[:]...))
	return "feedring-" + hex.EncodeToString(sum[:4])
}

// sessionOf is the value of a request's cookie.
func (s *site) sessionOf(r *http.Request) string {
	cookie, err := r.Cookie(s.sessionName())
	if err != nil {
		return ""
	}
	return cookie.Value
}

// inSession reports whether r comes from a page that was given the token. To
// change something it must come from a browser that says where it comes from,
// which is checked elsewhere.
func (s *site) inSession(r *http.Request) bool {
	return s.Token != "" && fromAPage(r) && s.sessions.holds(s.sessionOf(r), s.now())
}

// fromAPage reports whether a browser sent r that says where it comes from, if r changes
// something.
func fromAPage(r *http.Request) bool {
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead
	return safe || r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != ""
}

// beginSession gives the browser a cookie, in the place of the one that it has.
func (s *site) beginSession(w http.ResponseWriter, r *http.Request) {
	s.sessions.end(s.sessionOf(r))
	s.setCookie(w, r, s.sessions.begin(s.now()), int(sessionLasts/time.Second))
}

// endSession takes the cookie back, and what it was worth.
func (s *site) endSession(w http.ResponseWriter, r *http.Request) {
	s.sessions.end(s.sessionOf(r))
	s.setCookie(w, r, "", -1)
}

func (s *site) setCookie(w http.ResponseWriter, r *http.Request, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: s.sessionName(), Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: s.isHTTPS(r),
	})
}

// isHTTPS reports whether a browser reached this peer by https.
func (s *site) isHTTPS(r *http.Request) bool { return originOf(s.PublicURL) == "https://"+r.Host }

// holdsToken reports whether given is the token.
func (s *site) holdsToken(given string) bool {
	sum := sha256.Sum256([]byte(strings.TrimSpace(given)))
	return s.Token != "" && subtle.ConstantTimeCompare(sum[:], s.token[:]) == 1
}
