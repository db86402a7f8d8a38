package match

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// excerptRunes is how much of an expression is shown on each side of an error.
const excerptRunes = 48

// SyntaxError says what is wrong with an expression, and where. It is the only
// kind of error that Parse returns.
type SyntaxError struct {
	Offset int    // bytes from the start of Expr; len(Expr) where something is missing at the end
	Expr   string // the expression, cut at feedring.MaxExpression
	Msg    string // what is wrong, without the place
}

// Error tells the fault and its place in one line.
func (e *SyntaxError) Error() string {
	before, after := e.excerpt()
	return fmt.Sprintf("query: %s, at character %d of %q", e.Msg, e.Column(), before+after)
}

// Column is the place of the fault in characters, from 1.
func (e *SyntaxError) Column() int { return utf8.RuneCountInString(e.Expr[:e.offset()]) + 1 }

// Place shows the fault in two lines without a final line end: the expression,
// shortened where it is long, and below it a caret. It is meant for a terminal
// with a font of fixed width.
func (e *SyntaxError) Place() string {
	before, after := e.excerpt()
	return before + after + "\n" + strings.Repeat(" ", columns(before)) + "^"
}

// excerpt returns what stands on each side of the fault, on one line and
// harmless on a terminal.
func (e *SyntaxError) excerpt() (before, after string) {
	left, right := []rune(e.Expr[:e.offset()]), []rune(e.Expr[e.offset():])
	before, after = string(left), string(right)
	if len(left) > excerptRunes {
		before = "…" + string(left[len(left)-excerptRunes:])
	}
	if len(right) > excerptRunes {
		after = string(right[:excerptRunes]) + "…"
	}
	return strings.Map(printable, before), strings.Map(printable, after)
}

// offset is Offset, within Expr whatever a caller made of the fields.
func (e *SyntaxError) offset() int { return max(0, min(e.Offset, len(e.Expr))) }

// printable replaces what would move the caret or steer a terminal.
func printable(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsPrint(r):
		return r
	default:
		return utf8.RuneError
	}
}

// columns is the width of s on a terminal: East Asian characters take two
// columns, combining marks none.
func columns(s string) int {
	n := 0
	for _, r := range s {
		kind := width.LookupRune(r).Kind()
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}
