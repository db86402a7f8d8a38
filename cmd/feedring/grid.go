package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

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

// grid is a table for people: aligned on a terminal, tab-separated elsewhere,
// so that cut and awk can read it, with the same head in both. Words are never broken, or an address could
// not be copied: what is longer than the terminal goes on in its next line.
type grid struct {
	head  []string
	rows  [][]string
	stack []int // columns that a terminal shows below each other, in the last place; from 0
	whole bool  // peers' ids are never shortened
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

func (g *grid) print(w io.Writer) error { return g.render(w, columns(w)) }

// render writes the table for a terminal of that width; 0: it is none.
func (g *grid) render(w io.Writer, width int) error {
	if width == 0 {
		return g.printPlain(w)
	}
	rows := [][]string{g.stacked(g.head)}
	rows[0][len(rows[0])-1] = firstLine(rows[0][len(rows[0])-1]) // one name for the stack
	for _, cells := range g.rows {
		rows = append(rows, g.stacked(cells))
	}
	widths := widthsOf(rows)
	if !g.whole && total(widths) > width && shorten(rows) {
		widths = widthsOf(rows)
	}
	last := len(widths) - 1
	room := max(20, width-total(widths[:last])-gap)
	var b strings.Builder
	for i, cells := range rows {
		writeRow(&b, cells, widths, room)
		if i == 0 {
			fmt.Fprintln(&b, strings.Repeat("─", min(width, total(widths[:last])+gap+min(room, widths[last]))))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

const gap = 2 // between columns

// stacked moves the columns that are stacked into the last place.
func (g *grid) stacked(cells []string) []string {
	var out, stack []string
	for i, cell := range cells {
		switch {
		case !slices.Contains(g.stack, i):
			out = append(out, cell)
		case cell != "" && cell != "-":
			stack = append(stack, cell)
		}
	}
	if len(g.stack) > 0 {
		out = append(out, strings.Join(stack, "\n"))
	}
	return out
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func widthsOf(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, cells := range rows {
		for i, cell := range cells {
			for line := range strings.Lines(cell) {
				widths[i] = max(widths[i], text.StringWidthWithoutEscSequences(strings.TrimSuffix(line, "\n")))
			}
		}
	}
	return widths
}

func total(widths []int) int {
	sum := 0
	for i, width := range widths {
		if sum += width; i > 0 {
			sum += gap
		}
	}
	return sum
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

// writeRow writes the cells of one row, the last one in as many lines as it
// takes.
func writeRow(b *strings.Builder, cells []string, widths []int, room int) {
	last := len(cells) - 1
	for i, line := range wrap(cells[last], room) {
		for j, cell := range cells[:last] {
			if i > 0 {
				cell = ""
			}
			b.WriteString(cell + strings.Repeat(" ", widths[j]-text.StringWidthWithoutEscSequences(cell)+gap))
		}
		b.WriteString(line + "\n")
	}
}

// wrap breaks long lines between words, and keeps the breaks that are there.
func wrap(s string, width int) (lines []string) {
	for line := range strings.SplitSeq(s, "\n") {
		used := 0
		var b strings.Builder
		for _, word := range strings.Fields(line) {
			size := text.StringWidthWithoutEscSequences(word)
			switch {
			case used == 0:
			case used+1+size > width:
				lines, used = append(lines, b.String()), 0
				b.Reset()
			default:
				used++
				b.WriteByte(' ')
			}
			used += size
			b.WriteString(word)
		}
		lines = append(lines, b.String())
	}
	return lines
}

func (g *grid) printPlain(w io.Writer) error {
	for _, cells := range append([][]string{g.head}, g.rows...) {
		if _, err := fmt.Fprintln(w, strings.Join(cells, "\t")); err != nil {
			return err
		}
	}
	return nil
}
