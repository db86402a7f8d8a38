package feedring_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestOldNamesStayGone keeps names that nobody outside the project could guess
// from coming back. .ci/measures/banned.txt lists them. A name with a folder is
// banned in that folder only. Use the field's standard term instead.
func TestOldNamesStayGone(t *testing.T) {
	banned := bannedNames(t, "")
	if len(banned) < 50 {
		t.Fatalf("only %d names are banned", len(banned))
	}
	eachFile(t, func(set *token.FileSet, name string, f *ast.File) {
		declared(f, func(id *ast.Ident) {
			if banned[id.Name] || banned[path.Dir(name)+"."+id.Name] {
				t.Errorf("%s declares %s", set.Position(id.Pos()), id.Name)
			}
		})
	})
}

// TestOldWordsAreInNoName keeps the worst of the old words out of every part of every
// name: of locals, of tests and of files, too. They have an asterisk in
// .ci/measures/banned.txt.
func TestOldWordsAreInNoName(t *testing.T) {
	banned := bannedNames(t, "*")
	if len(banned) < 20 {
		t.Fatalf("only %d words are banned", len(banned))
	}
	old := func(name string) bool {
		return slices.ContainsFunc(partsOf(name), func(part string) bool { return banned[part] })
	}
	eachFile(t, func(set *token.FileSet, name string, f *ast.File) {
		if old(strings.TrimSuffix(path.Base(name), ".go")) {
			t.Errorf("the file %s has an old name", name)
		}
		named(f, func(id *ast.Ident) {
			if old(id.Name) {
				t.Errorf("%s declares %s", set.Position(id.Pos()), id.Name)
			}
		})
	})
}

func TestPartsOfNames(t *testing.T) {
	for name, want := range map[string]string{
		"onTwin": "on twin", "TwinID": "twin id", "HTTPTwin2": "http twin", "fault_twin_test": "fault twin test", "entwined": "entwined",
	} {
		if got := strings.Join(partsOf(name), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// bannedNames are the lines of .ci/measures/banned.txt that begin with a mark, without
// it; with no mark, those that begin with a letter.
func bannedNames(t *testing.T, mark string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(".ci/measures/banned.txt")
	if err != nil {
		t.Fatal(err)
	}
	banned := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		name, marked := strings.CutPrefix(strings.TrimSpace(line), "*")
		if name != "" && marked == (mark != "") {
			banned[name] = true
		}
	}
	return banned
}

// partsOf are the words of a name in lower case: of camelCase and of snake_case.
func partsOf(name string) (parts []string) {
	runes, begins := []rune(name), 0
	end := func(at int) {
		if at > begins {
			parts = append(parts, strings.ToLower(string(runes[begins:at])))
		}
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			end(i)
			begins = i + 1
		case i > begins && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end(i)
			begins = i
		}
	}
	end(len(runes))
	return parts
}

// eachFile calls do with each file of Go that somebody wrote.
func eachFile(t *testing.T, do func(set *token.FileSet, name string, f *ast.File)) {
	t.Helper()
	set := token.NewFileSet()
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata" || d.Name() == "bin") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".pb.go") {
			return nil
		}
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err == nil {
			do(set, name, f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// named calls do with each name that a file declares anywhere. A variable that := sets
// again is named again.
func named(f *ast.File, do func(*ast.Ident)) {
	names := func(list ...ast.Expr) {
		for _, e := range list {
			if id, ok := e.(*ast.Ident); ok {
				do(id)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			do(n.Name)
		case *ast.TypeSpec:
			do(n.Name)
		case *ast.ImportSpec:
			if n.Name != nil {
				do(n.Name)
			}
		case *ast.LabeledStmt:
			do(n.Label)
		case *ast.ValueSpec:
			for _, id := range n.Names {
				do(id)
			}
		case *ast.Field:
			for _, id := range n.Names {
				do(id)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				names(n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				names(n.Key, n.Value)
			}
		}
		return true
	})
}

// declared calls do with each name that a file gives to a type, a function, a
// method, a field, or a variable or constant of the package.
func declared(f *ast.File, do func(*ast.Ident)) {
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			do(decl.Name)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					do(spec.Name)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						do(id)
					}
				}
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.StructType); ok {
			for _, field := range s.Fields.List {
				for _, id := range field.Names {
					do(id)
				}
			}
		}
		return true
	})
}
