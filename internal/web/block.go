package web

import (
	"net/http"
	"time"

	"github.com/feedring/feedring"
)

// Block is a peer, addresses or a domain of which this peer shows, stores, dials and
// serves nothing.
type Block struct {
	Block  string    `json:"block"` // a peer's id, a prefix or a domain
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until,omitzero"` // zero: for good
	Reason string    `json:"reason,omitempty"`
	Origin string    `json:"origin,omitempty"` // the list of others that it is of; empty: this peer's own
}

// BlockList is a list of blocks that somebody else publishes and this peer follows.
type BlockList struct {
	List    string    `json:"list"` // its address
	Lines   int       `json:"lines"`
	Skipped int       `json:"skipped,omitempty"` // lines that name nothing that a list may block
	Read    time.Time `json:"read"`
	Problem string    `json:"problem,omitempty"` // why it could not be read since
}

const (
	blockExample  = `{"block":"spam.example","for":"30d","reason":"advertisements"}`
	maxReason     = 500
	maxBlockFor   = 100 * 366 * 24 * time.Hour
	blockForWords = "a time such as 30d or 12h"
)

func (s *site) blocks(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, append([]Block{}, s.Backend.Blocks()...))
}

// block says 201 for what was not blocked, else 200.
func (s *site) block(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		Block  string `json:"block"`
		For    string `json:"for"`
		Reason string `json:"reason"`
	}
	if err := readJSON(w, r, &req, blockExample); err != nil {
		return err
	}
	ask := Block{Block: req.Block, Reason: req.Reason}
	if len(req.Reason) > maxReason {
		return badRequest("the reason is longer than %d bytes: shorten it", maxReason)
	}
	if req.For != "" {
		d, err := feedring.ParseDuration(req.For)
		if err != nil || d <= 0 || d > maxBlockFor {
			return badRequest("for %s: give %s, or leave it out to block for good", quote(req.For), blockForWords)
		}
		ask.Until = s.now().Add(d).Truncate(time.Second)
	}
	blocked, known, err := s.Backend.Block(r.Context(), ask)
	if err != nil {
		return refused(err)
	}
	status := http.StatusCreated
	if known {
		status = http.StatusOK
	}
	return writeJSON(w, status, blocked)
}

// copies tells who published an entry.
func (s *site) copies(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, append([]feedring.Entry{}, s.Backend.Copies(feedring.EntryID(r.PathValue("id")))...))
}

// unblock says 204, and 200 where a list of others named it: it is allowed here from then on.
func (s *site) unblock(w http.ResponseWriter, r *http.Request) error {
	target := r.URL.Query().Get("block")
	allowed, err := s.Backend.Unblock(r.Context(), target)
	if err != nil {
		return refused(err)
	}
	if allowed {
		return writeJSON(w, http.StatusOK, map[string]any{"unblocked": target, "allowed": true})
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *site) blockLists(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, append([]BlockList{}, s.Backend.BlockLists()...))
}

func (s *site) followBlocks(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		List string `json:"list"`
	}
	if err := readJSON(w, r, &req, `{"list":"https://example.org/blocks.json"}`); err != nil {
		return err
	}
	is, err := s.Backend.FollowBlocks(r.Context(), req.List)
	if err != nil {
		return refused(err)
	}
	return writeJSON(w, http.StatusCreated, is)
}

func (s *site) unfollowBlocks(w http.ResponseWriter, r *http.Request) error {
	if err := s.Backend.UnfollowBlocks(r.Context(), r.URL.Query().Get("list")); err != nil {
		return refused(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
