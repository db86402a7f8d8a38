package show

import (
	"bytes"
	"strings"
	"testing"

	"github.com/feedring/feedring"
)

// Nothing that a feed says moves the cursor or colours the terminal.
func TestPrintable(t *testing.T) {
	if got := Printable("a\x1b[31m\tb\r\nc\u202edd\x07\u009b"); got != "a[31m b  cdd" {
		t.Errorf("got %q", got)
	}
	if got := TitleOf(&feedring.Entry{Title: " \x1b ", Summary: strings.Repeat("é", 300)}); len([]rune(got)) != 201 {
		t.Errorf("%d characters: %q", len([]rune(got)), got)
	}
}

func TestGridPlain(t *testing.T) {
	var b bytes.Buffer
	g := Table{Head: []string{"A", "B"}}
	g.Add("1", "two")
	if err := g.Print(&b); err != nil || b.String() != "A\tB\n1\ttwo\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}
