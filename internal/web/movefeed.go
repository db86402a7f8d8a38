package web

import (
	"net/http"

	"github.com/feedring/feedring"
)

// moveRequest names two addresses of one feed.
type moveRequest struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Force bool   `json:"force"` // without a fetch of the new address
}

// movedFeed is a feed at its new address.
type movedFeed struct {
	FeedStatus
	Note string `json:"note,omitempty"` // why it may not be there yet
}

func (s *site) moveFeed(w http.ResponseWriter, r *http.Request) error {
	var req moveRequest
	if err := readJSON(w, r, &req, `{"from":"https://site.example/feed.xml","to":"https://site.example/rss"}`); err != nil {
		return err
	}
	from, err := feedring.ParseFeedURL(req.From)
	if err != nil {
		return badRequest("from: %w", err)
	}
	to, err := feedring.ParseFeedURL(req.To)
	if err != nil {
		return badRequest("to: %w", err)
	}
	feed, note, err := s.Backend.MoveFeed(r.Context(), from, to, req.Force)
	if err != nil {
		return refused(err)
	}
	return writeJSON(w, http.StatusOK, movedFeed{feed, note})
}
