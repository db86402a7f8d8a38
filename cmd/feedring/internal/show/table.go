package show

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"github.com/feedring/feedring"
)

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

// Table is a table for people: aligned on a terminal, tab-separated elsewhere,
// so that cut and awk can read it, with the same head in both. Words are never
// broken: an address must stay in one piece to be copied.
type Table struct {
	Head  []string
	Stack []int // columns that a terminal shows below each other, in the last place; from 0
	Whole bool  // peers' ids are never shortened

	rows    [][]string
	printed bool // some rows
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Print writes what was added since the last Print to w.
func (t *Table) Print(w io.Writer) error {
	err := t.Render(w, columns(w))
	t.rows, t.printed = nil, true
	return err
}

// Render writes the table for a terminal of that width; 0: it is none.
func (t *Table) Render(w io.Writer, width int) error {
	if width == 0 {
		rows := t.rows
		if !t.printed {
			rows = append([][]string{t.Head}, rows...)
		}
		for _, cells := range rows {
			if _, err := fmt.Fprintln(w, strings.Join(cells, "\t")); err != nil {
				return err
			}
		}
		return nil
	}
	head := t.stacked(t.Head)
	last := len(head) - 1
	head[last], _, _ = strings.Cut(head[last], "\n") // one name for the stack
	var rows [][]string
	for _, cells := range t.rows {
		rows = append(rows, t.stacked(cells))
	}
	aligned := align(head, rows, 0)
	if !t.Whole && text.LongestLineLen(aligned) > width && shorten(rows) {
		aligned = align(head, rows, 0)
	}
	if over := text.LongestLineLen(aligned) - width; over > 0 {
		longest := text.LongestLineLen(head[last])
		for _, cells := range rows {
			longest = max(longest, text.LongestLineLen(cells[last]))
		}
		aligned = align(head, rows, max(20, longest-over))
	}
	_, err := fmt.Fprintln(w, aligned)
	return err
}

// align lays a table out for a terminal. Room is the width of the last column;
// 0: as wide as its text.
func align(head []string, rows [][]string, room int) string {
	t := table.NewWriter()
	t.SetStyle(table.Style{
		Box:     table.BoxStyle{MiddleVertical: "  ", MiddleHorizontal: "─", MiddleSeparator: "──"},
		Options: table.Options{SeparateColumns: true, SeparateHeader: true},
	})
	t.SetColumnConfigs([]table.ColumnConfig{{Number: len(head), WidthMax: room, WidthMaxEnforcer: wrap}})
	t.SuppressTrailingSpaces()
	t.AppendHeader(rowOf(head))
	for _, cells := range rows {
		t.AppendRow(rowOf(cells))
	}
	return t.Render()
}

func rowOf(cells []string) (row table.Row) {
	for _, cell := range cells {
		row = append(row, cell)
	}
	return row
}

// stacked moves the columns that are stacked into the last place.
func (t *Table) stacked(cells []string) []string {
	var out, stack []string
	for i, cell := range cells {
		switch {
		case !slices.Contains(t.Stack, i):
			out = append(out, cell)
		case cell != "" && cell != "-":
			stack = append(stack, cell)
		}
	}
	if len(t.Stack) > 0 {
		out = append(out, strings.Join(stack, "\n"))
	}
	return out
}

// shorten leaves peers' last characters: whole ids are for --wide, --json and
// pipes.
func shorten(rows [][]string) (some bool) {
	for _, cells := range rows {
		for i, cell := range cells {
			if len(cell) == 52 && strings.HasPrefix(cell, "12D3KooW") {
				cells[i], some = "…"+feedring.PeerID(cell).Short(), true
			}
		}
	}
	return some
}

// wrap breaks long lines between words, and keeps the breaks that are there.
func wrap(s string, width int) string {
	var b strings.Builder
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		used := 0
		for _, word := range strings.Fields(line) {
			size := text.StringWidthWithoutEscSequences(word)
			switch {
			case used == 0:
			case used+1+size > width:
				b.WriteByte('\n')
				used = 0
			default:
				b.WriteByte(' ')
				used++
			}
			b.WriteString(word)
			used += size
		}
	}
	return b.String()
}
