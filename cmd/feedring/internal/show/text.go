// Package show writes values, tables and JSON lines to a terminal or a pipe.
// What comes from outside cannot move the cursor or colour the text.
package show

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/feedring/feedring"
)

// Printable makes a text from outside harmless on a terminal: one line, and no
// control characters.
func Printable(s string) string {
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

// Moment is a time in the reader's zone.
func Moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format(minute)
}

// Ago is how long before now t was, in its largest unit.
func Ago(now, t time.Time) string {
	d := max(0, now.Sub(t))
	switch {
	case t.IsZero():
		return "-"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds ago", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd ago", int(d/(24*time.Hour)))
	}
}

// TitleOf is a line for an entry, which need not have a title.
func TitleOf(e *feedring.Entry) string {
	for _, s := range []string{e.Title, e.Summary, e.URL} {
		if s = strings.TrimSpace(Printable(s)); s != "" {
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

// OneLine keeps cobra's paragraphs, and what a peer wrote, to one line.
func OneLine(s string) string {
	return strings.Join(strings.Fields(Printable(s)), " ")
}

// ShellWord writes s so that a shell takes it for one word.
func ShellWord(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return Quoted(s)
}

// Quoted is s as one word in which a shell finds nothing to do.
func Quoted(s string) string {
	return "'" + strings.ReplaceAll(Printable(s), "'", `'\''`) + "'"
}

// Duration writes whole days as days, and never a unit that is zero.
func Duration(v time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case v == 0:
		return "0"
	case v%day == 0 && v > day:
		return strconv.Itoa(int(v/day)) + "d"
	}
	s := v.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}
