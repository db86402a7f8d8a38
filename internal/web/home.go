package web

import (
	"context"
	_ "embed"
	"net/http"
	"time"

	"github.com/feedring/feedring"
)

//go:embed style.css
var styleText []byte

// home is what the page shows.
type home struct {
	Status
	Ring []feedring.RingGroup
	Join string // an address for --join and --peer; empty: none is known
	Base string // for addresses to copy
	Up   time.Duration
}

func (s *site) home(w http.ResponseWriter, r *http.Request) error {
	private, err := s.private(r)
	if err != nil {
		return err
	}
	h := home{Status: s.publicStatus(private), Base: s.base(r)}
	h.Up = time.Duration(h.Uptime) * time.Second
	if len(h.Addrs) > 0 {
		h.Join = h.Addrs[0]
	}
	ctx, cancel := context.WithTimeout(r.Context(), infoWithin)
	defer cancel()
	if h.Ring, err = s.Backend.Ring(ctx); err != nil {
		return err
	}
	page := h.page()
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page.Bytes())
	return nil
}

func (s *site) style(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	_, _ = w.Write(styleText)
	return nil
}

// when writes a time for people, in UTC: the server does not know their zone.
func when(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}
