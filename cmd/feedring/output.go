package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/feedring/feedring"
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

func (a *app) printEntries(entries []feedring.Entry) error {
	g := grid{head: []string{"PUBLISHED", "PROVIDER", "ENTRY", "URL"}, stack: []int{2, 3}}
	for i := range entries {
		e := &entries[i]
		g.add(moment(e.Published), printable(string(e.Provider)), titleOf(e), printable(e.URL))
	}
	return g.print(a.stdout)
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
