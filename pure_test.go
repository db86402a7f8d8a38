package feedring_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// concurrent lists imports that start goroutines for those who use them.
var concurrent = []string{"net", "net/http", "net/http/httptest", "os/exec", "os/signal", "testing/synctest"}

// sequential lists the modules of others that start none.
var sequential = []string{
	"github.com/blevesearch/snowballstem", "github.com/google/go-cmp", "github.com/mmcdole/gofeed", "golang.org/x/net/html", "golang.org/x/text",
	"pgregory.net/rapid", "google.golang.org/protobuf",
}

// TestPureTestsStartNothing holds that what the Makefile tests without the
// race detector has nothing for it to find: neither those packages, nor their
// tests, nor what they import start a goroutine.
func TestPureTestsStartNothing(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^PURE +:= (.*)$`).FindSubmatch(makefile)
	if line == nil {
		t.Fatal("the Makefile has no line PURE")
	}
	files := sources(t)
	for _, named := range strings.Fields(string(line[1])) {
		dir := strings.TrimPrefix(named, "./")
		below, all := strings.CutSuffix(dir, "/...")
		found := false
		for _, room := range slices.Sorted(maps.Keys(files)) {
			if room != dir && !(all && (room == below || strings.HasPrefix(room, below+"/"))) {
				continue
			}
			found = true
			for _, reason := range startsGoroutines(files, room) {
				t.Errorf("%s is in PURE: %s", room, reason)
			}
		}
		if !found {
			t.Errorf("PURE names %s, which has no Go file", named)
		}
	}
}

// TestUnracedTestsAreRun holds that tests that are built without the race detector
// are run by the Makefile: PURE's and PROCESSES' all are, and UNRACED's are found by
// their name, in a file with that constraint.
func TestUnracedTestsAreRun(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	named := func(list string) []string {
		line := regexp.MustCompile(`(?m)^` + list + ` +:= (.*)$`).FindSubmatch(makefile)
		if line == nil {
			t.Fatalf("the Makefile has no line %s", list)
		}
		return strings.Fields(strings.ReplaceAll(string(line[1]), "./", ""))
	}
	whole, unraced := append(named("PURE"), named("PROCESSES")...), named("UNRACED")
	constraint, test := regexp.MustCompile(`(?m)^//go:build.*!race`), regexp.MustCompile(`(?m)^func Test`)
	files, err := filepath.Glob("*/*_test.go")
	for deeper := "*/*/*_test.go"; err == nil && strings.Count(deeper, "/") < 7; deeper = "*/" + deeper {
		var more []string
		more, err = filepath.Glob(deeper)
		files = append(files, more...)
	}
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !constraint.Match(text) {
			continue
		}
		found++
		room := filepath.ToSlash(filepath.Dir(file))
		in := func(p string) bool {
			below, all := strings.CutSuffix(p, "/...")
			return room == p || all && strings.HasPrefix(room+"/", below+"/")
		}
		switch {
		case slices.ContainsFunc(whole, in):
		case !slices.ContainsFunc(unraced, in):
			t.Errorf("%s is built without the race detector only, and the Makefile's UNRACED does not name %s", file, room)
		case !test.Match(text) && file != "cmd/feedring/scripts_test.go": // for TestScripts, which the Makefile names
			t.Errorf("%s has no test: what it changes is not seen, since only tests of such files are run without the race detector", file)
		}
	}
	if found == 0 {
		t.Error("no test is built without the race detector")
	}
}

// startsGoroutines says what in a room, its tests, and the rooms that these
// import starts goroutines.
func startsGoroutines(files map[string][]source, room string) []string {
	var reasons []string
	seen := make(map[string]bool)
	var visit func(room string, tests bool)
	visit = func(room string, tests bool) {
		for _, f := range files[room] {
			if f.test && !tests {
				continue
			}
			reasons = append(reasons, f.starts...)
			for _, path := range f.imports {
				own, ok := strings.CutPrefix(path, module)
				switch {
				case ok:
					next := strings.TrimPrefix(own, "/")
					if next == "" {
						next = "."
					}
					if !seen[next] {
						seen[next] = true
						visit(next, false)
					}
				case slices.Contains(concurrent, path),
					strings.Contains(strings.Split(path, "/")[0], ".") && !slices.ContainsFunc(sequential, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") }):
					reasons = append(reasons, room+" imports "+path)
				}
			}
		}
	}
	visit(room, true)
	return reasons
}

// A source is what TestPureTestsStartNothing asks of one file.
type source struct {
	test    bool
	imports []string
	starts  []string // where goroutines begin
}

func sources(t *testing.T) map[string][]source {
	t.Helper()
	found := make(map[string][]source)
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata" || d.Name() == "bin") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		src := source{test: strings.HasSuffix(path, "_test.go")}
		for _, spec := range f.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			src.imports = append(src.imports, imported)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				src.starts = append(src.starts, set.Position(n.Pos()).String()+" starts a goroutine")
			case *ast.SelectorExpr:
				if of, ok := n.X.(*ast.Ident); ok && (n.Sel.Name == "Parallel" && of.Name == "t" || n.Sel.Name == "RunParallel" && of.Name == "b") {
					src.starts = append(src.starts, set.Position(n.Pos()).String()+" runs tests in parallel")
				}
			}
			return true
		})
		room := filepath.ToSlash(filepath.Dir(path))
		found[room] = append(found[room], src)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
