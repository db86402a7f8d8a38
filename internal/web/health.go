package web

import (
	"io"
	"net/http"
)

func (s *site) live(w http.ResponseWriter, _ *http.Request) error { return plain(w, "alive\n") }

// ready is for those who send readers here, such as a load balancer.
func (s *site) ready(w http.ResponseWriter, _ *http.Request) error {
	if !s.Backend.Ready() {
		return busy(1, "this peer has not settled its roles in all of its groups yet: ask again in a second")
	}
	return plain(w, "ready\n")
}

func plain(w http.ResponseWriter, text string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text)
	return nil
}
