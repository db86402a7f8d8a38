package subscriber

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	maxContent   = 16 << 20
	maxChallenge = 1024
)

// ServeHTTP answers hubs at a callback. The secret is the path value "secret".
func (r *Subscriber) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	secret := req.PathValue("secret")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	switch req.Method {
	case http.MethodGet:
		challenge, ok := r.verified(req, secret)
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			challenge = "this peer did not ask for that\n"
		}
		_, _ = io.WriteString(w, challenge) // a hub that left asks again
	case http.MethodPost:
		w.WriteHeader(r.delivered(req, secret))
	default:
		w.Header().Set("Allow", "GET, POST")
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// verified takes in what a hub asks or tells by GET, and returns the challenge
// where this peer meant it (section 5.3).
func (r *Subscriber) verified(req *http.Request, secret string) (challenge string, ok bool) {
	q := req.URL.Query()
	r.mu.Lock()
	s := r.bySecret[secret]
	if s == nil || q.Get("hub.topic") != s.Topic {
		r.mu.Unlock()
		return "", false
	}
	now := time.Now()
	switch q.Get("hub.mode") {
	case "subscribe":
		challenge, ok = s.confirm(now, q)
	case "denied":
		s.works, s.asked, s.Expires, s.due, ok = false, time.Time{}, time.Time{}, now.Add(longestRetry), true
	}
	r.mu.Unlock()
	if ok {
		if err := r.save(req.Context(), s); err != nil {
			r.cfg.Log.Warn("a subscription at a hub is not saved: it is made again after a restart", "feed", s.Feed, "err", err)
		}
	}
	return challenge, ok
}

// confirm begins a lease, where the hub was asked for one lately.
func (s *subscription) confirm(now time.Time, q url.Values) (challenge string, ok bool) {
	challenge = q.Get("hub.challenge")
	if s.asked.IsZero() || now.Sub(s.asked) > wordWithin || challenge == "" || len(challenge) > maxChallenge {
		return "", false
	}
	granted := lease
	if seconds, err := strconv.ParseInt(q.Get("hub.lease_seconds"), 10, 32); err == nil && seconds > 0 {
		granted = min(time.Duration(seconds)*time.Second, longestLease)
	}
	s.Expires = now.Add(max(granted, time.Minute))
	s.asked, s.failures, s.due = time.Time{}, 0, renewal(now, s.Expires)
	return challenge, true
}

// delivered takes a content in, and has the feed fetched if its hub signed it.
// What is signed wrongly is passed over in silence (section 8).
func (r *Subscriber) delivered(req *http.Request, secret string) (status int) {
	r.mu.Lock()
	s := r.bySecret[secret]
	r.mu.Unlock()
	if s == nil {
		return http.StatusGone
	}
	if !signed(req, s.Key) {
		r.cfg.Log.Debug("a hub's content is not signed rightly", "feed", s.Feed, "hub", s.Hub)
		return http.StatusAccepted
	}
	r.mu.Lock()
	s.told, s.works = time.Now(), true
	r.mu.Unlock()
	r.cfg.Fetcher.HubTold(s.Feed)
	return http.StatusAccepted
}

// signed reads a content and checks its signature. Old hubs know SHA-1 only; it
// is good enough here, where nothing but a fetch depends on it.
func signed(req *http.Request, key string) bool {
	method, given, _ := strings.Cut(req.Header.Get("X-Hub-Signature"), "=")
	methods := map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New}
	want, err := hex.DecodeString(given)
	if methods[method] == nil || err != nil {
		return false
	}
	mac := hmac.New(methods[method], []byte(key))
	n, err := io.Copy(mac, io.LimitReader(req.Body, maxContent+1))
	return err == nil && n <= maxContent && hmac.Equal(mac.Sum(nil), want)
}
