package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// sessionLasts is how long a browser that was given the token need not be
// given it again.
const sessionLasts = 24 * time.Hour

// sessionName is the cookie's. Cookies are shared by all ports of a host, and
// so by all peers on it: each has its own name.
func (s *site) sessionName() string { return "feedring-" + hex.EncodeToString(s.seal("name")[:4]) }

// seal says something that only the holder of the token can say. The token
// itself stays out of cookies: other servers on this host get them, too.
func (s *site) seal(what string) []byte {
	mac := hmac.New(sha256.New, s.token[:])
	_, _ = mac.Write([]byte("feedring page session\x00" + what)) // a hash never fails
	return mac.Sum(nil)
}

// inSession reports whether r comes from a page that was given the token. To
// change something it must come from a browser that says where it comes from,
// which is checked elsewhere.
func (s *site) inSession(r *http.Request) bool {
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead
	if s.Token == "" || !s.knownHost(r) || !safe && r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") == "" {
		return false
	}
	cookie, err := r.Cookie(s.sessionName())
	if err != nil {
		return false
	}
	until, sum, _ := strings.Cut(cookie.Value, ".")
	given, err := base64.RawURLEncoding.DecodeString(sum)
	second, wrong := strconv.ParseInt(until, 10, 64)
	return err == nil && wrong == nil && hmac.Equal(given, s.seal(until)) && s.now().Unix() < second
}

// keepSession gives the browser a cookie; one that lasts no time is taken back.
func (s *site) keepSession(w http.ResponseWriter, r *http.Request, lasts time.Duration) {
	until := strconv.FormatInt(s.now().Add(lasts).Unix(), 10)
	c := &http.Cookie{
		Name: s.sessionName(), Value: until + "." + base64.RawURLEncoding.EncodeToString(s.seal(until)),
		Path: "/", MaxAge: int(lasts / time.Second), HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: originOf(s.PublicURL) == "https://"+r.Host,
	}
	if lasts == 0 {
		c.Value, c.MaxAge = "", -1
	}
	http.SetCookie(w, c)
}

// holdsToken reports whether given is the token.
func (s *site) holdsToken(given string) bool {
	sum := sha256.Sum256([]byte(strings.TrimSpace(given)))
	return s.Token != "" && subtle.ConstantTimeCompare(sum[:], s.token[:]) == 1
}
