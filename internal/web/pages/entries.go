package pages

import (
	"cmp"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

// How much of an entry is shown, in characters.
const (
	maxExcerpt = 280
	maxTitle   = 240
)

// List is entries, newest first, and where new ones are told.
type List struct {
	Heading string
	Entries []Entry
	Note    string   // what is missing; empty: nothing
	Ignored string   // what of the page's address means nothing; empty: nothing
	Hints   []string // where nothing was found, what may have been meant
	Reach   string   // whom this peer does not reach; empty: all that it should
	Stream  string   // address that tells new ones; empty: none
	Next    string   // address of the page with older ones; empty: none
	Empty   string   // said where there is no entry
}

// Entry is an entry as a page shows it, and as its script is told of it: text,
// and no more than that.
type Entry struct {
	ID        feedring.EntryID  `json:"id"`
	Provider  feedring.Provider `json:"provider"`
	Source    string            `json:"source"` // whose words it is; see feedring.Entry.Source
	Publisher feedring.PeerID   `json:"publisher"`
	Theme     feedring.Theme    `json:"theme,omitempty"` // empty: private
	Title     string            `json:"title"`
	URL       string            `json:"url,omitempty"`
	Published time.Time         `json:"published"`
	Language  string            `json:"language,omitempty"`
	Text      string            `json:"text,omitempty"`
	Story     string            `json:"story"` // what it is compared by; see package duplicate
	// Supersedes says that it takes the place of another publisher's copy.
	Supersedes bool `json:"supersedes,omitempty"`
}

// Marks reports whether a mark needs to be explained.
func (l *List) Marks() bool {
	for i := range l.Entries {
		if e := &l.Entries[i]; e.Source != string(e.Provider) {
			return true
		}
	}
	return l.Stream != ""
}

// NewEntry returns e as a page shows it.
func NewEntry(e *feedring.Entry, story string) Entry {
	return Entry{
		ID: e.ID, Provider: e.Provider, Source: e.Source(), Publisher: e.Publisher, Supersedes: e.Supersedes, Theme: e.Theme, Title: titleOf(e), URL: e.URL, Published: e.Published,
		Language: e.Language, Text: excerptOf(e), Story: story,
	}
}

// titleOf is what an entry is called on a page. Its title is text: what looks
// like a tag in it was written to be read.
func titleOf(e *feedring.Entry) string {
	return cmp.Or(clip(cmp.Or(strings.TrimSpace(e.Title), e.URL), maxTitle), "Untitled")
}

// excerptOf is the begin of what an entry says: its summary, which is text, else
// its content without the HTML.
func excerptOf(e *feedring.Entry) string {
	text := e.Summary
	if text == "" {
		text = match.PlainText(e.ContentHTML[:min(len(e.ContentHTML), 64<<10)])
	}
	text = text[:min(len(text), 16<<10)]
	return clip(strings.Join(strings.Fields(text), " "), maxExcerpt)
}
