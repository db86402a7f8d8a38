package feedring_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// TestOldNamesStayGone keeps names that nobody outside the project could guess
// from coming back. .ci/measures/banned.txt lists them. A name with a folder is
// banned in that folder only. Use the field's standard term instead.
func TestOldNamesStayGone(t *testing.T) {
	text, err := os.ReadFile(".ci/measures/banned.txt")
	if err != nil {
		t.Fatal(err)
	}
	banned := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		if name, _, _ := strings.Cut(line, "#"); strings.TrimSpace(name) != "" {
			banned[strings.TrimSpace(name)] = true
		}
	}
	if len(banned) < 50 {
		t.Fatalf("only %d names are banned", len(banned))
	}
	set := token.NewFileSet()
	err = fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
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
		if err != nil {
			return err
		}
		declared(f, func(id *ast.Ident) {
			if banned[id.Name] || banned[path.Dir(name)+"."+id.Name] {
				t.Errorf("%s declares %s", set.Position(id.Pos()), id.Name)
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
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
