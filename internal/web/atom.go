package web

import (
	"net/http"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/render"
)

const atomPath = "/api/v1/entries.atom"

// entriesAtom answers as entries does, in the form of a feed.
func (s *site) entriesAtom(w http.ResponseWriter, r *http.Request) error {
	a, err := s.ask(r)
	if err != nil {
		return err
	}
	self := s.address(r, atomPath, a.query, nil)
	feed := &render.Feed{
		ID: self, Title: titleOf(a.query), Self: self, Updated: newest(a.entries, s.now()), Entries: a.entries,
	}
	if a.next != nil {
		feed.Next = s.address(r, atomPath, a.query, a.next)
	}
	s.describe(w, r, a, atomPath)
	w.Header().Set("Vary", "Accept-Encoding, Authorization, Cookie")
	w.Header().Set("Content-Type", render.Atom.ContentType())
	body := compressed(w, r)
	defer body.Close()
	if err := render.Write(body, render.Atom, feed); err != nil {
		s.Logger.Debug("a reader left before the end of its feed", "err", err)
	}
	return nil
}

// newest is when the entries were last changed; now where there is none.
func newest(entries []feedring.Entry, now time.Time) time.Time {
	var at time.Time
	for i := range entries {
		if updated := render.UpdatedOf(&entries[i]); updated.After(at) {
			at = updated
		}
	}
	if at.IsZero() {
		return now
	}
	return at
}

// titleOf names a query for a person.
func titleOf(q feedring.Query) string {
	title := "feedring"
	for _, part := range []string{string(q.Theme), q.Provider, q.Words} {
		if part != "" {
			title += " · " + part
		}
	}
	return title
}
