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

// ownFeed serves a feed in its site's place, to the whole web. So it names this
// peer's hub where the owner said by which address the web reaches it, and none
// otherwise: the Host header is a proxy's, or a stranger's.
func (s *site) ownFeed(w http.ResponseWriter, r *http.Request) error {
	hub := ""
	if s.Hub != "" && s.PublicURL != "" {
		hub = s.PublicURL + s.Hub
	}
	return s.Front.Answer(w, r, hub)
}

func (s *site) poll(w http.ResponseWriter, r *http.Request) {
	if err := s.ownFeed(w, r); err != nil {
		s.refuse(w, r, err)
	}
}
