package web

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// infoWithin is how long the peer may ask others before a table is given up.
const infoWithin = 5 * time.Second

// publicStatus is the status without what only the peer's owner may know.
func (s *site) publicStatus(private bool) Status {
	status := s.Backend.Status()
	status.Feeds = s.Backend.Feeds(private)
	if private {
		status.Refused = refusedMost(s.Refused.LastHour())
	}
	if !private {
		status.Trusted, status.Fleet = nil, ""
		status.Entries -= status.PrivateEntries
		for i := range status.Feeds {
			status.Feeds[i].File = ""
		}
	}
	if status.Feeds == nil {
		status.Feeds = []FeedStatus{}
	}
	return status
}

func (s *site) status(w http.ResponseWriter, r *http.Request) error {
	private, err := s.private(r)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, s.publicStatus(private))
}

func (s *site) ring(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), infoWithin)
	defer cancel()
	groups, err := s.Backend.Ring(ctx)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, append([]feedring.RingGroup{}, groups...))
}

func (s *site) catalogue(w http.ResponseWriter, r *http.Request) error {
	theme, err := feedring.ParseTheme(r.PathValue("theme"))
	if err != nil {
		return badRequest("%w", err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), infoWithin)
	defer cancel()
	catalogue, err := s.Backend.Catalogue(ctx, theme)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, catalogue)
}

// checks is an object, so that a report can say more one day.
type checks struct {
	Checks []Check `json:"checks"`
}

func (s *site) doctor(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, checks{append([]Check{}, s.Backend.Doctor(r.Context())...)})
}

func (s *site) vouch(w http.ResponseWriter, r *http.Request) error {
	place := strings.ToLower(r.URL.Query().Get("site"))
	if len(place) > 253 || strings.ContainsAny(place, " \t\r\n/@?#") {
		return badRequest("site %s: write the name of a host, such as lemonde.fr", quote(place))
	}
	advice, err := s.Backend.Vouch(r.Context(), place)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, advice)
}
