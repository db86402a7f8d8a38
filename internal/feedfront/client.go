package feedfront

import (
	"net/http"
	"strconv"
	"strings"
)

// Doer is what fetches: a *guard.Client.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Client tells origins for how many readers a peer asks, as aggregators do, and
// marks requests so that the front knows its own. Where a document is not there,
// it asks for it unconditionally.
type Client struct {
	Doer
	Room  *Room
	Agent string // User-Agent, whose comment ends with ")"
}

// Do sends req with its headers set.
func (c Client) Do(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Cdn-Loop", c.Room.loop)
	req.Header.Set("User-Agent", c.Agent)
	if n := c.Room.Readers(req.URL.String()); n > 0 {
		req.Header.Set("User-Agent", strings.TrimSuffix(c.Agent, ")")+"; "+strconv.Itoa(n)+" subscribers)")
	}
	if c.Room.lacks(req.URL.String()) {
		req.Header.Del("If-None-Match")
		req.Header.Del("If-Modified-Since")
	}
	return c.Doer.Do(req)
}

// Readers estimates for how many readers a feed was fetched here within a day.
func (r *Room) Readers(feed string) int {
	if h := r.held(feed); h != nil {
		return h.readers.count(r.cfg.Now())
	}
	return 0
}
