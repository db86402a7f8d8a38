package web

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/duplicate"
	"github.com/feedring/feedring/internal/web/pages"
)

// viewParameter asks a stream for entries as a page shows them, and for whom this
// peer does not reach.
const viewParameter, pageView = "view", "page"

// pageEntry is an entry as a page shows it: text, and no more than that.
type pageEntry struct {
	ID        feedring.EntryID  `json:"id"`
	Provider  feedring.Provider `json:"provider"`
	Theme     feedring.Theme    `json:"theme,omitempty"`
	Title     string            `json:"title"`
	URL       string            `json:"url,omitempty"`
	Published time.Time         `json:"published"`
	Language  string            `json:"language,omitempty"`
	Text      string            `json:"text,omitempty"`
	Story     string            `json:"story"`
}

func (s *site) pageEntry(e *feedring.Entry) pageEntry {
	return pageEntry{
		ID: e.ID, Provider: e.Provider, Theme: e.Theme, Title: pages.TitleOf(e), URL: e.URL, Published: e.Published,
		Language: e.Language, Text: pages.ExcerptOf(e), Story: s.storyOf(e),
	}
}

// storyOf is what an entry is compared by with others of a page.
func (s *site) storyOf(e *feedring.Entry) string {
	return duplicate.KeysOf(e, s.Backend.Site(e)).String()
}

// onceEach is entries with each story once, and what they are compared by.
func (s *site) onceEach(entries []feedring.Entry) ([]feedring.Entry, []string) {
	entries = duplicate.Fold(entries, s.Backend.Site)
	stories := make([]string, len(entries))
	for i := range entries {
		stories[i] = s.storyOf(&entries[i])
	}
	return entries, stories
}
