package web

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/asker"
	"github.com/feedring/feedring/internal/readerfeeds/opml"
	"github.com/feedring/feedring/internal/refusals"
	"github.com/feedring/feedring/internal/throttle"
)

// knownHosts are the names in a Host header by which this peer is called. A
// page whose name an attacker points at this address (DNS rebinding) comes
// with another.
func knownHosts(cfg Config) map[string]bool {
	hosts := map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true}
	if cfg.Address != "" {
		hosts[hostname(cfg.Address)] = true
	}
	if u, err := url.Parse(cfg.PublicURL); err == nil && u.Host != "" {
		hosts[hostname(u.Host)] = true
	}
	return hosts
}

// hostname is a Host header without port and brackets, in lower case.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// originOf is the origin that a browser tells for a page below address.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// knownHost reports whether r was meant for this peer. The socket has no name,
// so every name is right there. A request that names no host may read: programs of
// before HTTP/1.1 send it, and no browser does.
func (s *site) knownHost(r *http.Request) bool {
	var local netip.Addr
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		local = at.AddrPort().Addr()
	}
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead
	return s.trusted || safe && hostname(r.Host) == "" || s.calledAt(r.Host, local)
}

// calledAt reports whether a Host header names this peer, to one who reached it at
// local: a peer that listens on every address is reached at each of them.
func (s *site) calledAt(host string, local netip.Addr) bool {
	name := hostname(host)
	if s.hosts[name] {
		return true
	}
	named, err := netip.ParseAddr(name)
	return err == nil && local.IsValid() && named.Unmap() == local.WithZone("").Unmap()
}

// onLoopback reports whether only this machine reaches an address.
func onLoopback(address string) bool {
	host := hostname(address)
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// asker names who sent a request for its share of this peer. Programs of this machine
// have none where nobody else reaches the front.
func (s *site) asker(r *http.Request) string {
	name := s.Proxies.Name(r.RemoteAddr, r.Header["X-Forwarded-For"])
	if s.loopback && onLoopback(name) {
		return ""
	}
	return name
}

// What whoever sends a body may take to send it: bodyWithin, and a second for each
// bodyPiece of it.
const (
	bodyWithin = 10 * time.Second
	bodyPiece  = 16 << 10
	// unknownBody is the size that a body of unknown length is given time for.
	unknownBody = 1 << 20
)

// limitBody gives what r sends its time. Whoever has sent all may wait for the answer
// as long as it takes.
func limitBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 {
		return
	}
	size := min(r.ContentLength, opml.MaxBody) // no route takes more
	if size < 0 {
		size = unknownBody
	}
	control := http.NewResponseController(w)
	// A writer that has no deadline reads from memory.
	if control.SetReadDeadline(time.Now().Add(bodyWithin+time.Duration(size/bodyPiece)*time.Second)) == nil {
		r.Body = &timedBody{r.Body, control}
	}
}

// timedBody takes the deadline back at its end.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// open lets anybody in who asks from no other web origin.
func (s *site) open(h http.Handler) reply {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := s.ours(r); err != nil {
			return err
		}
		h.ServeHTTP(w, r)
		return nil
	}
}

// requireToken lets only those in who hold the token, from no other web origin.
func (s *site) requireToken(do reply) reply {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := s.ours(r); err != nil {
			return err
		}
		who, err := s.caller(r)
		switch {
		case err != nil:
			return err
		case who.user != "":
			return &problem{Status: http.StatusForbidden, Detail: "this is for the owner of the peer, with its token: a user's key is for /api/v1/subscriptions"}
		case !who.owner:
			return unauthorized("this needs the token in DATA/token: send it as \"Authorization: Bearer TOKEN\", or use the control socket")
		}
		w.Header().Set("Cache-Control", "no-store")
		return do(w, r)
	}
}

// ours refuses what a page of another web origin sent to change something here.
func (s *site) ours(r *http.Request) error {
	if err := s.origins.Check(r); err != nil && !s.trusted {
		return &problem{Status: http.StatusForbidden, Detail: "a page of another web origin may not change this peer: " +
			"use this peer's own page, or a program without an Origin header"}
	}
	return nil
}

// private reports whether r may see what only this peer knows. A token that is
// wrong is an error: whoever sends one expects more than the public part.
func (s *site) private(r *http.Request) (bool, error) {
	who, err := s.caller(r)
	return who.owner, err
}

// manyWrong is for whoever guesses: a key or code of the fleet is looked up when it may be
// tried again, and the token is taken at once.
const manyWrong = "too many wrong tokens, keys or invitations came from your address: wait 12 seconds, and try again; " +
	"the token of the peer's owner (DATA/token) is taken at once"

// wrongToken counts a wrong token for whoever sent it. The error is for one who
// guesses.
func (s *site) wrongToken(r *http.Request) error {
	s.Refused.Add(refusals.HTTP, refusals.Token)
	who := asker.Of(r.Context(), r.RemoteAddr)
	if wait := s.guesses.Take(s.now(), who, 1); wait > 0 && who != "" {
		return &problem{
			Status: http.StatusTooManyRequests, Detail: manyWrong,
			header: http.Header{"Retry-After": {strconv.Itoa(throttle.Seconds(wait))}},
		}
	}
	return nil
}

// guessed refuses whoever gave so many wrong tokens, keys or codes that none is looked up
// for it now: other peers of a fleet are asked for each.
func (s *site) guessed(r *http.Request) error {
	return waits(s.guesses, s.now(), r, manyWrong)
}

// waits refuses an asker whose bucket is empty. One without a name has none.
func waits(of *throttle.Buckets, now time.Time, r *http.Request, detail string) error {
	who := asker.Of(r.Context(), r.RemoteAddr)
	if who == "" {
		return nil
	}
	wait := of.Wait(now, who, 1)
	if wait == 0 {
		return nil
	}
	return &problem{Status: http.StatusTooManyRequests, Detail: detail, header: http.Header{"Retry-After": {strconv.Itoa(throttle.Seconds(wait))}}}
}

func unauthorized(detail string) *problem {
	return &problem{
		Status: http.StatusUnauthorized, Detail: detail,
		header: http.Header{"Www-Authenticate": {`Bearer realm="feedring"`}},
	}
}

func foreignHost(r *http.Request) *problem {
	return &problem{Status: http.StatusForbidden, Detail: "this peer is not called " + quote(r.Host) +
		": ask it at the address it listens on, or start it with --public-url"}
}
