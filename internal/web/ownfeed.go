package web

import (
	"net/http"
)

// Front serves the documents of the peer's own published feeds.
type Front interface {
	// Answer answers a GET or HEAD of an address below /f/. base is what this
	// peer's addresses begin with, hub its hub, empty for none. ErrUnknown,
	// ErrLoop, or another that passes; each before anything was written.
	Answer(w http.ResponseWriter, r *http.Request, base, hub string) error
}

const frontPath = "/f/"

// ownFeed serves a feed in its site's place. A proxy in front may name any Host:
// then feeds tell the address that this peer knows of itself.
func (s *site) ownFeed(w http.ResponseWriter, r *http.Request) error {
	base := s.base(r)
	if base == "" {
		base = AddressBase(s.Address)
	}
	hub := ""
	if s.Hub != "" && base != "" {
		hub = base + s.Hub
	}
	return s.Front.Answer(w, r, base, hub)
}

func (s *site) poll(w http.ResponseWriter, r *http.Request) {
	if err := s.ownFeed(w, r); err != nil {
		s.fail(w, r, err)
	}
}
