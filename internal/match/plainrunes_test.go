package match

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"math"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

var rewrite = flag.Bool("rewrite", false, "write the tables of plain characters anew")

// TestPlainTables: the tables say what the rules for all characters say. They are
// written out since every start of the program would fill them, for whatever command.
func TestPlainTables(t *testing.T) {
	const name, command = "plainrunes.go", "go test -run TestPlainTables -rewrite"
	var src bytes.Buffer
	fmt.Fprintf(&src, "package match\n\n// The folds of plain characters, as %s ./internal/match writes them.\nvar (\n", command)
	writeTable(&src, "plainLatin", "latinEnd", utf8.RuneSelf, latinEnd, 0)
	writeTable(&src, "plainPunct", "punctEnd - punctStart", punctStart, punctEnd, punctStart)
	src.WriteString(")\n")
	want, err := format.Source(src.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile(name, want, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the rules say (%v): run %s", name, err, command)
	}
}

func writeTable(src *bytes.Buffer, name, size string, from, to, zero rune) {
	fmt.Fprintf(src, "%s = [%s]string{", name, size)
	for r := from; r < to; r++ {
		if (r-from)%16 == 0 {
			fmt.Fprintf(src, "\n%#x:", r-zero)
		}
		fmt.Fprintf(src, "%q,", plainByRules(r))
	}
	src.WriteString("\n}\n")
}

// plainByRules is a "=" and the fold of a character whose neighbours do not matter,
// else "".
func plainByRules(r rune) string {
	f := folder{limit: math.MaxInt}
	f.piece("x" + string(r) + "x")
	f.end()
	switch between := string(f.out[1 : len(f.out)-2]); {
	case r == '·': // of Catalan
	case between == " ":
		return "= "
	case !strings.Contains(between, " ") && len(between) <= utf8.RuneLen(r): // the fractions are two words
		return "=" + between
	}
	return ""
}
