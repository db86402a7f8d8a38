package fleetfeeds

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/web"
	keeper "github.com/feedring/feedring/node/internal/fleet"
)

// counts are of polls that other peers answered.
type counts struct{ forwarded atomic.Uint64 }

// Metrics are those of the fleet.
func (s *Service) Metrics() []prometheus.Collector {
	return []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "feedring", Name: "users", Help: "Users of the fleet that this peer serves.",
		}, func() float64 { return float64(s.cfg.Keeper.Status().Users) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "feedring", Name: "room", Help: "Personal feeds that this peer tells its fleet that it has room for: less where its memory is nearly full.",
		}, func() float64 { return float64(s.cfg.Load.Told()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: "feedring", Name: "shortened_total", Help: "Entries that were taken off lists of personal feeds because memory is nearly full.",
		}, func() float64 { return float64(s.cfg.Load.Shortened()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: "feedring", Name: "forwarded_total", Help: "Polls of personal feeds that other peers of the fleet answered for this one.",
		}, func() float64 { return float64(s.counts.forwarded.Load()) }),
	}
}

// Elsewhere implements web.Fleet. The peer that serves the feed is asked, then the one that
// keeps it. Nobody is told that there is no such feed before both said so: one of them may
// have come back without it.
func (s *Service) Elsewhere(w http.ResponseWriter, r *http.Request, secret, base string) (bool, error) {
	id, ok := fleet.IDOf(secret)
	if !ok {
		return false, nil
	}
	places := s.cfg.Keeper.Places()
	first, second := places.Holders(id.Slot())
	silent := false
	for i, p := range []feedring.PeerID{first, second} {
		switch {
		case p == "":
		case p == s.cfg.Self:
			err := s.open(r.Context(), secret)
			if err == nil {
				return false, nil
			}
			silent = silent || !errors.Is(err, keeper.ErrUnknown)
		case !places.Present(p):
			silent = true
		default:
			within := pollWithin
			if i > 0 || !places.Present(second) || second == "" {
				within = doWithin
			}
			switch s.forward(w, r, p, base, within) {
			case passed:
				s.counts.forwarded.Add(1)
				return true, nil
			case failed:
				silent = true
			}
		}
	}
	if silent {
		return false, &web.AwayError{}
	}
	return false, nil
}

// outcome of a forwarded poll.
type outcome int

const (
	passed  outcome = iota // an answer was written
	hasNone                // the peer has no such feed
	failed                 // it did not answer
)

// passedOn are the headers of a poll that decide its answer.
var passedOn = []string{"Accept-Encoding", "A-Im", "If-None-Match", "If-Modified-Since", "User-Agent"}

// forward has another peer answer a poll.
func (s *Service) forward(w http.ResponseWriter, r *http.Request, to feedring.PeerID, base string, within time.Duration) outcome {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	late := time.AfterFunc(within, cancel)
	out, err := http.NewRequestWithContext(ctx, r.Method, r.URL.Path, nil)
	if err != nil {
		return failed
	}
	for _, name := range passedOn {
		if values := r.Header[name]; len(values) > 0 {
			out.Header[name] = values
		}
	}
	out.Header.Set(web.BaseHeader, base)
	in, err := s.cfg.Link.RoundTrip(to, out)
	if err != nil || !late.Stop() {
		if err == nil {
			_ = in.Body.Close()
		}
		return failed
	}
	defer func() { _ = in.Body.Close() }()
	switch {
	case in.StatusCode == http.StatusNotFound:
		return hasNone
	case in.StatusCode >= http.StatusInternalServerError:
		return failed
	}
	h := w.Header()
	for name, values := range in.Header {
		h[name] = values
	}
	w.WriteHeader(in.StatusCode)
	_, _ = io.Copy(w, in.Body) // a reader who left needs no error
	return passed
}

// Handler answers the fleet's other peers: rows is for the exchange of rows, site the front
// that trusts who asks.
func (s *Service) Handler(rows, site http.Handler) http.Handler {
	s.site = site
	mux := http.NewServeMux()
	mux.Handle("/fleet/v1/", rows)
	mux.HandleFunc("POST "+doPath, s.serveDo)
	mux.HandleFunc("GET "+web.PersonalPath+"{name}", s.servePoll)
	return mux
}

// servePoll answers a poll that another peer passed on, and opens the feed first if this peer
// only keeps it.
func (s *Service) servePoll(w http.ResponseWriter, r *http.Request) {
	secret, _, _ := strings.Cut(r.PathValue("name"), ".")
	if err := s.open(r.Context(), secret); err != nil && !errors.Is(err, keeper.ErrUnknown) {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	s.site.ServeHTTP(w, r)
}

// open returns when a feed is open here. It fails as Keeper.Wake does: that its list is not
// filled yet is no sign that there is none.
func (s *Service) open(ctx context.Context, secret string) error {
	if _, open := s.State(secret); open {
		return nil
	}
	return s.cfg.Keeper.Wake(ctx, secret)
}
