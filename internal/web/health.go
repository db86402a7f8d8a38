package web

import (
	"io"
	"net/http"
	"strings"
)

// Readiness says whether readers may be sent to this peer.
type Readiness struct {
	Reasons  []string // why not; none: they may
	Warnings []string // what else is wrong, and what to do
}

func (s *site) live(w http.ResponseWriter, _ *http.Request) error { return plain(w, "alive\n") }

// ready is for those who send readers here, such as a load balancer: the status
// tells all that a probe needs.
func (s *site) ready(w http.ResponseWriter, _ *http.Request) error {
	is := s.Backend.Readiness()
	if is.Warnings == nil {
		is.Warnings = []string{} // a list that is empty, not none
	}
	if len(is.Reasons) > 0 {
		p := busy(1, strings.Join(is.Reasons, "; "))
		p.Reasons, p.Warnings = is.Reasons, is.Warnings
		return p
	}
	return writeJSON(w, http.StatusOK, struct {
		Status   string   `json:"status"`
		Warnings []string `json:"warnings"`
	}{"ready", is.Warnings})
}

func plain(w http.ResponseWriter, text string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text)
	return nil
}
