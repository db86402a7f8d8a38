package web

import (
	"net/http"
)

// Front serves the documents of the peer's own published feeds.
type Front interface {
	// Answer answers a GET or HEAD of an address below /f/. hub is the address of
	// this peer's hub, empty for none. ErrUnknown, ErrLoop, or another that passes;
	// each before anything was written.
	Answer(w http.ResponseWriter, r *http.Request, hub string) error
}

const frontPath = "/f/"

// ownFeed serves a feed in its site's place, to the whole web.
func (s *site) ownFeed(w http.ResponseWriter, r *http.Request) error {
	return s.Front.Answer(w, r, s.HubAddress())
}

// HubAddress is the hub that own feeds name; empty: none. It is this peer's where the
// owner said by which address the web reaches it, and none otherwise: the Host header
// is a proxy's, or a stranger's.
func (c *Config) HubAddress() string {
	if c.Hub == "" || c.PublicURL == "" {
		return ""
	}
	return c.PublicURL + c.Hub
}

// Always is what every answer says to a browser.
func Always() http.Header {
	h := make(http.Header)
	secure(h)
	return h
}

func (s *site) poll(w http.ResponseWriter, r *http.Request) {
	if err := s.ownFeed(w, r); err != nil {
		s.refuse(w, r, err)
	}
}
