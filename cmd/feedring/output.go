package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/duplicate"
)

// lines prints JSON, one object a line, and keeps the first error.
type lines struct {
	w   io.Writer
	err error
}

func newLines(w io.Writer) *lines { return &lines{w: w} }

func (l *lines) print(v any) {
	if l.err != nil {
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if l.err = e.Encode(v); l.err == nil {
		_, l.err = l.w.Write(harmless(b.Bytes()))
	}
}

// harmless escapes what JSON allows in a string as it is although a terminal
// would act on it. The value stays the same.
func harmless(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) {
		if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// printable makes a text from outside harmless on a terminal: one line, and no
// control characters.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		default:
			return r
		}
	}, s)
}

const minute = "2006-01-02 15:04"

// moment is a time in the reader's zone.
func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format(minute)
}

// ago is how long before now t was, in its largest unit.
func ago(now, t time.Time) string {
	d := max(0, now.Sub(t))
	switch {
	case t.IsZero():
		return "-"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds ago", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 2*day:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd ago", int(d/day))
	}
}

// printEntries prints each story once, as personal feeds do, and who else tells
// it; at most so many.
func (a *app) printEntries(entries []feedring.Entry, limit int) error {
	shown := duplicate.Fold(entries, nil)
	also := alsoAt(entries, shown)
	shown = shown[:min(len(shown), limit)]
	g := grid{head: []string{"PUBLISHED", "PROVIDER", "ENTRY", "URL"}, stack: []int{2, 3}}
	for i := range shown {
		e, title := &shown[i], titleOf(&shown[i])
		if others := also[e.ID]; len(others) > 0 {
			title += " (also at " + printable(strings.Join(others, ", ")) + ")"
		}
		g.add(moment(e.Published), printable(string(e.Provider)), title, printable(e.URL))
	}
	return g.print(a.stdout)
}

// alsoAt names, by the entry that is shown, the providers of those that tell the
// same.
func alsoAt(entries, shown []feedring.Entry) map[feedring.EntryID][]string {
	also := make(map[feedring.EntryID][]string)
	if len(shown) == len(entries) {
		return also
	}
	by := make(map[uint64]*feedring.Entry, 2*len(shown))
	visible := make(map[feedring.EntryID]bool, len(shown))
	keys := func(e *feedring.Entry) [2]uint64 {
		k := duplicate.KeysOf(e, e.VouchedBy)
		return [2]uint64{k.Link, k.Content}
	}
	for i := range shown {
		visible[shown[i].ID] = true
		for _, key := range keys(&shown[i]) {
			by[key] = &shown[i]
		}
	}
	delete(by, 0)
	for i := range entries {
		e := &entries[i]
		for _, key := range keys(e) {
			first := by[key]
			if visible[e.ID] || first == nil {
				continue
			}
			if name := string(e.Provider); e.Provider != first.Provider && !slices.Contains(also[first.ID], name) {
				also[first.ID] = append(also[first.ID], name)
			}
			break
		}
	}
	return also
}

// titleOf is a line for an entry, which need not have a title.
func titleOf(e *feedring.Entry) string {
	for _, s := range []string{e.Title, e.Summary, e.URL} {
		if s = strings.TrimSpace(printable(s)); s != "" {
			return clip(s, 200)
		}
	}
	return string(e.ID)
}

func clip(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most]) + "…"
}

func or(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}
