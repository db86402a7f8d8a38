package pages

import (
	"strings"
	"unicode/utf8"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

// How much of an entry is shown, in characters. What tells the script of new
// entries cuts them by the same functions.
const (
	maxExcerpt = 280
	maxTitle   = 240
)

// List is entries, newest first, and where new ones are told.
type List struct {
	Entries []feedring.Entry
	Stories []string // what each entry is compared by, at its place; see package duplicate
	Note    string   // what is missing; empty: nothing
	Ignored string   // what of the page's address means nothing; empty: nothing
	Hints   []string // where nothing was found, what may have been meant
	Reach   string   // whom this peer does not reach; empty: all that it should
	Stream  string   // address that tells new ones; empty: none
	Next    string   // address of the page with older ones; empty: none
	Empty   string   // said where there is no entry
}

func (l *List) write(m *markup, f *Frame, heading literal) {
	m.html("<div class=\"bar\"><h3>")
	m.html(heading)
	// The script shows this and tells its state.
	m.html("</h3><p id=\"live\" hidden><span id=\"live-state\" role=\"status\"></span> <button type=\"button\" id=\"live-pause\">Pause</button></p></div>\n")
	m.html("<p id=\"reach\" class=\"problem\" role=\"status\"")
	if l.Reach == "" {
		m.html(" hidden")
	}
	m.between(">", l.Reach, "</p>\n")
	for _, note := range []string{l.Ignored, l.Note} {
		if note != "" {
			m.between("<p class=\"note\">", note, "</p>\n")
		}
	}
	m.between(`<ol id="entries" class="entries" aria-live="polite" aria-relevant="additions" data-stream="`, l.Stream, "\">\n")
	for i := range l.Entries {
		story := ""
		if i < len(l.Stories) {
			story = l.Stories[i]
		}
		l.entry(m, f, &l.Entries[i], story)
	}
	m.html("</ol>\n")
	if len(l.Entries) == 0 && l.Empty != "" {
		m.between("<p id=\"no-entries\">", l.Empty, "</p>\n")
	}
	for _, hint := range l.Hints {
		m.between("<p class=\"note\">", hint, "</p>\n")
	}
	if l.Next != "" {
		m.between(`<p><a href="`, l.Next, "\">Older entries</a></p>\n")
	}
}

// entry writes one as text. The script writes the same.
func (l *List) entry(m *markup, f *Frame, e *feedring.Entry, story string) {
	m.between(`<li data-id="`, string(e.ID), `"`)
	m.between(` data-story="`, story, `"`)
	if e.Language != "" {
		m.between(` lang="`, e.Language, `"`)
	}
	m.html(` dir="auto"><h4>`)
	m.link(e.URL, TitleOf(e))
	m.html("</h4>\n<p class=\"meta\" lang=\"en\" dir=\"ltr\"><span>")
	m.text(string(e.Provider))
	m.html("</span> ")
	if e.Theme == "" {
		m.html("<span class=\"private\">private</span> ")
	} else {
		m.html("<span>")
		groupLink(m, f.Root, e.Theme)
		m.html("</span> ")
	}
	m.time(e.Published)
	m.html("</p>\n")
	if text := ExcerptOf(e); text != "" {
		m.between("<p>", text, "</p>\n")
	}
	m.html("</li>\n")
}

// TitleOf is what an entry is called on a page. Its title is text: what looks
// like a tag in it was written to be read.
func TitleOf(e *feedring.Entry) string {
	switch title := strings.TrimSpace(e.Title); {
	case title != "":
		return clip(title, maxTitle)
	case e.URL != "":
		return clip(e.URL, maxTitle)
	default:
		return "Untitled"
	}
}

// ExcerptOf is the begin of what an entry says: its summary, which is text, else
// its content without the HTML.
func ExcerptOf(e *feedring.Entry) string {
	text := e.Summary
	if text == "" {
		text = match.PlainText(e.ContentHTML[:min(len(e.ContentHTML), 64<<10)])
	}
	text = text[:min(len(text), 16<<10)]
	return clip(strings.Join(strings.Fields(text), " "), maxExcerpt)
}

// clip cuts a text to a number of characters.
func clip(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:most])) + "…"
}
