package feedring_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the table of rooms in docs/architecture.md anew")

const (
	tableBegin = "<!-- rooms: written by go test . -run TestRoomTable -rewrite -->\n"
	tableEnd   = "<!-- end of rooms -->\n"
)

// TestRoomTable holds the table of rooms in docs/architecture.md against the
// code: what the package comments say, what arrows allows, and sizes, which may
// differ by a tenth.
func TestRoomTable(t *testing.T) {
	const name = "docs/architecture.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), tableBegin)
	table, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		t.Fatalf("%s lacks the marks of the table:\n%s%s", name, tableBegin, tableEnd)
	}
	want, sizes := roomTable(t)
	if *rewrite {
		if err := os.WriteFile(name, []byte(before+tableBegin+want+tableEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	size := regexp.MustCompile(`(?m)[0-9.]+k \|$`)
	if size.ReplaceAllString(table, "|") != size.ReplaceAllString(want, "|") {
		t.Errorf("%s: the table of rooms is not what the code says: run go test . -run TestRoomTable -rewrite\n%s", name, want)
	}
	for _, line := range strings.Split(table, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 5 {
			continue
		}
		var said float64
		room := strings.Trim(cells[1], " `")
		if n, ok := sizes[room]; ok {
			if _, err := fmt.Sscanf(cells[4], " %fk", &said); err != nil {
				t.Errorf("%s: the size of %s: %v", name, room, err)
			} else if diff := said*1000 - float64(n); max(diff, -diff) > 100+float64(n)/10 {
				t.Errorf("%s: %s has %d lines, not %.1fk: run go test . -run TestRoomTable -rewrite", name, room, n, said)
			}
		}
	}
}

// roomTable makes the table, and the lines of each room without tests and
// generated code.
func roomTable(t *testing.T) (table string, sizes map[string]int) {
	t.Helper()
	var out strings.Builder
	out.WriteString("| room | what it is | may import | lines |\n| --- | --- | --- | --- |\n")
	sizes = make(map[string]int)
	for _, room := range slices.Sorted(maps.Keys(rooms(t))) {
		comment := ""
		files, err := fs.Glob(os.DirFS(room), "*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			path := filepath.Join(room, name)
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, source, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			if f.Doc != nil && !strings.HasPrefix(f.Doc.Text(), "Code generated") {
				comment = new(doc.Package).Synopsis(f.Doc.Text())
			}
			if !ast.IsGenerated(f) && !strings.HasSuffix(name, ".pb.go") {
				sizes[room] += bytes.Count(source, []byte("\n"))
			}
		}
		if comment == "" && sizes[room] > 0 {
			t.Errorf("%s: no comment says what the package is", room)
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %.1fk |\n", room, isA(comment), mayImportWords(room), float64(sizes[room])/1000)
	}
	return out.String(), sizes
}

var introduction = regexp.MustCompile(`^(Package|Command) [\w-]+ (is )?`)

// isA leaves what a package comment says without its beginning.
func isA(comment string) string {
	return strings.ReplaceAll(introduction.ReplaceAllString(comment, ""), "|", `\|`)
}

func mayImportWords(room string) string {
	if strings.HasPrefix(room, "cmd/feedring/internal/") {
		return "as `cmd/feedring`"
	}
	var words []string
	for _, a := range slices.Sorted(slices.Values(arrows[room])) {
		if strings.HasSuffix(a, "/") {
			a += "…"
		}
		words = append(words, "`"+a+"`")
	}
	return strings.Join(words, ", ")
}
