package pages

import (
	"strings"
	"unicode/utf8"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

// excerpt is how much of an entry's text is shown, in characters. The script
// shows as much.
const excerpt = 280

// List is entries, newest first, and where new ones are told.
type List struct {
	Entries []feedring.Entry
	Note    string // what is missing; empty: nothing
	Stream  string // address that tells new ones; empty: none
	Next    string // address of the page with older ones; empty: none
}

func (l *List) write(m *markup, f *Frame, heading literal) {
	m.html("<div class=\"bar\"><h3>")
	m.html(heading)
	// The script shows this and tells its state.
	m.html("</h3><p id=\"live\" hidden><span id=\"live-state\" role=\"status\"></span> <button type=\"button\" id=\"live-pause\">Pause</button></p></div>\n")
	if l.Note != "" {
		m.between("<p class=\"note\">", l.Note, "</p>\n")
	}
	m.between(`<ol id="entries" class="entries" aria-live="polite" aria-relevant="additions" data-stream="`, l.Stream, "\">\n")
	for i := range l.Entries {
		l.entry(m, f, &l.Entries[i])
	}
	m.html("</ol>\n")
	if len(l.Entries) == 0 {
		m.html("<p id=\"no-entries\">No entry yet.</p>\n")
	}
	if l.Next != "" {
		m.between(`<p><a href="`, l.Next, "\">Older entries</a></p>\n")
	}
}

// entry writes one as text. The script writes the same.
func (l *List) entry(m *markup, f *Frame, e *feedring.Entry) {
	m.between(`<li data-id="`, string(e.ID), `"`)
	if e.Language != "" {
		m.between(` lang="`, e.Language, `"`)
	}
	m.html(` dir="auto"><h4>`)
	m.link(e.URL, titleOf(e))
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
	if text := textOf(e); text != "" {
		m.between("<p>", text, "</p>\n")
	}
	m.html("</li>\n")
}

func titleOf(e *feedring.Entry) string {
	switch title := strings.TrimSpace(e.Title); {
	case title != "":
		return title
	case e.URL != "":
		return e.URL
	default:
		return "Untitled"
	}
}

// textOf is the begin of what an entry says, without its HTML.
func textOf(e *feedring.Entry) string {
	text := e.Summary
	if text == "" {
		text = e.ContentHTML
	}
	if len(text) > 64<<10 {
		text = text[:64<<10]
	}
	text = strings.Join(strings.Fields(match.PlainText(text)), " ")
	if utf8.RuneCountInString(text) > excerpt {
		text = strings.TrimSpace(string([]rune(text)[:excerpt])) + "…"
	}
	return text
}
