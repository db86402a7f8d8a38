package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

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

// columns is the width of the terminal that w is, or 0.
func columns(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil || width < 40 {
		return 80
	}
	return width
}

// grid is a table for people: aligned on a terminal, tab-separated elsewhere,
// so that cut and awk can read it.
type grid struct {
	head []string
	rows [][]string
	open bool // with its head where it is no terminal, too
	wide int  // the column that gives way where the terminal is narrow, from 1; 0: none
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

func (g *grid) print(w io.Writer) error {
	width := columns(w)
	if width == 0 {
		return g.printPlain(w)
	}
	g.shorten()
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Options = table.Options{SeparateHeader: true}
	if g.wide > 0 {
		room := max(20, width-g.others())
		t.SetColumnConfigs([]table.ColumnConfig{{Number: g.wide, WidthMax: room, WidthMaxEnforcer: wrap}})
	}
	t.AppendHeader(row(g.head))
	for _, cells := range g.rows {
		t.AppendRow(row(cells))
	}
	_, err := fmt.Fprintln(w, t.Render())
	return err
}

// wrap breaks long lines, and keeps the breaks that are there.
func wrap(s string, width int) string {
	parts := strings.Split(s, "\n")
	for i, part := range parts {
		parts[i] = text.WrapSoft(part, width)
	}
	return strings.Join(parts, "\n")
}

// shorten leaves peers' last characters: whole ids are for --json and pipes.
func (g *grid) shorten() {
	for _, cells := range g.rows {
		for i, cell := range cells {
			if len(cell) == 52 && strings.HasPrefix(cell, "12D3KooW") {
				cells[i] = "…" + feedring.PeerID(cell).Short()
			}
		}
	}
}

// others is the room that all columns but the wide one take.
func (g *grid) others() int {
	total := 0
	for i := range g.head {
		if i+1 == g.wide {
			total += 2
			continue
		}
		longest := len(g.head[i])
		for _, cells := range g.rows {
			longest = max(longest, text.StringWidthWithoutEscSequences(cells[i]))
		}
		total += longest + 2
	}
	return total
}

func (g *grid) printPlain(w io.Writer) error {
	rows := g.rows
	if g.open {
		rows = append([][]string{g.head}, rows...)
	}
	for _, cells := range rows {
		if _, err := fmt.Fprintln(w, strings.ReplaceAll(strings.Join(cells, "\t"), "\n", "\t")); err != nil {
			return err
		}
	}
	return nil
}

func row(cells []string) table.Row {
	r := make(table.Row, len(cells))
	for i, cell := range cells {
		r[i] = cell
	}
	return r
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

func (a *app) printEntries(entries []feedring.Entry) error {
	g := grid{head: []string{"PUBLISHED", "PROVIDER", "ENTRY"}, wide: 3}
	for i := range entries {
		e := &entries[i]
		g.add(moment(e.Published), printable(string(e.Provider)), titleOf(e)+"\n"+printable(e.URL))
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
