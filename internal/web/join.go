package web

import (
	"context"
	"net/http"

	"github.com/feedring/feedring"
)

// Joined is what became of a target that is to be joined through.
type Joined struct {
	Join    string           `json:"join"`
	Reached []Reached        `json:"reached"`         // connected now
	Groups  []feedring.Theme `json:"groups"`          // of which those that were reached tell
	Error   string           `json:"error,omitempty"` // why nobody was reached; it is tried again
	Known   bool             `json:"known,omitempty"` // it was joined through before
}

// Reached is a peer that is connected.
type Reached struct {
	Peer feedring.PeerID `json:"peer"`
	Addr string          `json:"addr"`
}

// JoinTarget is what the network is joined through.
type JoinTarget struct {
	Join  string `json:"join"`
	Fixed bool   `json:"from_config,omitempty"` // given to serve: cannot be removed at run time
	Error string `json:"error,omitempty"`       // why the last try reached nobody there; it is tried again
}

const joinExample = `{"join":"news.example"}`

func (s *site) joins(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, append([]JoinTarget{}, s.Backend.Joins()...))
}

// join says 201 for a target that was not there, reached or not, else 200.
func (s *site) join(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		Join string `json:"join"`
	}
	if err := readJSON(w, r, &req, joinExample); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), waitOf(r))
	defer cancel()
	joined, err := s.Backend.Join(ctx, req.Join)
	if err != nil {
		return refused(err)
	}
	status := http.StatusCreated
	if joined.Known {
		status = http.StatusOK
	}
	return writeJSON(w, status, joined)
}

func (s *site) removeJoin(w http.ResponseWriter, r *http.Request) error {
	if err := s.Backend.RemoveJoin(r.Context(), r.URL.Query().Get("join")); err != nil {
		return refused(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
