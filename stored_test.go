package feedring_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestJSONFieldsHaveTags checks that every field that the product writes or reads as
// JSON names its key in a tag. Without a tag a renamed field would load as zero from
// a data directory of before, and change what programs read.
func TestJSONFieldsHaveTags(t *testing.T) {
	c := newTagCheck(t)
	for again := true; again; {
		again = false
		for _, pkg := range c.pkgs {
			for _, f := range pkg.files {
				again = c.calls(pkg, f) || again
			}
		}
	}
	if len(c.seen) < 20 {
		t.Errorf("only %d structs are encoded: the check has lost sight of them", len(c.seen))
	}
}

type tagCheck struct {
	*testing.T
	fset  *token.FileSet
	pkgs  []*checkedPackage
	sinks map[sink]bool // parameters that are encoded or decoded
	seen  map[types.Type]bool
}

// sink is a parameter of a function.
type sink struct {
	function string // full name
	index    int
}

type checkedPackage struct {
	info  types.Info
	files []*ast.File
}

// newTagCheck loads the packages of the product that import encoding/json.
func newTagCheck(t *testing.T) *tagCheck {
	c := &tagCheck{T: t, fset: token.NewFileSet(), seen: make(map[types.Type]bool), sinks: map[sink]bool{
		{"encoding/json.Marshal", 0}: true, {"encoding/json.MarshalIndent", 0}: true, {"encoding/json.Unmarshal", 1}: true,
		{"(*encoding/json.Encoder).Encode", 0}: true, {"(*encoding/json.Decoder).Decode", 0}: true,
	}}
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Imports,Standard", "./...")
	list.Stderr = os.Stderr
	// What the tags are does not depend on the system: only what is built for this one
	// anyway is built.
	list.Env = append(os.Environ(), "GOARCH=", "CGO_ENABLED=")
	out, err := list.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := list.Start(); err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles, Imports        []string
	}
	exports := make(map[string]string)
	var ours []listed
	for decoder := json.NewDecoder(out); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if p.ImportPath == module+"/cmd/feedring-demo" {
			continue // it stores nothing, and reads one line of the API
		}
		if strings.HasPrefix(p.ImportPath, module) && slices.Contains(p.Imports, "encoding/json") {
			ours = append(ours, p)
		}
	}
	if err := list.Wait(); err != nil {
		t.Fatal(err)
	}
	imports := importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range ours {
		pkg := &checkedPackage{info: types.Info{
			Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object), Defs: make(map[*ast.Ident]types.Object),
		}}
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(c.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			pkg.files = append(pkg.files, f)
		}
		if _, err := (&types.Config{Importer: imports}).Check(p.ImportPath, c.fset, pkg.files, &pkg.info); err != nil {
			t.Fatal(err)
		}
		c.pkgs = append(c.pkgs, pkg)
	}
	return c
}

// calls checks what a file gives to sinks. It reports whether a parameter was found
// to be a sink itself.
func (c *tagCheck) calls(pkg *checkedPackage, f *ast.File) (found bool) {
	for _, decl := range f.Decls {
		function, _ := decl.(*ast.FuncDecl)
		ast.Inspect(decl, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			for i, arg := range call.Args {
				if !c.sinks[sink{c.callee(pkg, call), i}] {
					continue
				}
				if of := pkg.info.TypeOf(arg); !types.IsInterface(of) {
					c.walk(of, arg.Pos())
				} else if function != nil {
					found = c.add(pkg, function, arg) || found
				}
			}
			return true
		})
	}
	return found
}

func (c *tagCheck) callee(pkg *checkedPackage, call *ast.CallExpr) string {
	var name *ast.Ident
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		name = f
	case *ast.SelectorExpr:
		name = f.Sel
	default:
		return ""
	}
	if f, ok := pkg.info.Uses[name].(*types.Func); ok {
		return f.FullName()
	}
	return ""
}

// add makes a sink of the parameter that is given on.
func (c *tagCheck) add(pkg *checkedPackage, function *ast.FuncDecl, arg ast.Expr) bool {
	name, ok := ast.Unparen(arg).(*ast.Ident)
	if !ok {
		return false
	}
	made := pkg.info.Defs[function.Name].(*types.Func)
	for i := range made.Signature().Params().Len() {
		s := sink{made.FullName(), i}
		if made.Signature().Params().At(i) == pkg.info.Uses[name] && !c.sinks[s] {
			c.sinks[s] = true
			return true
		}
	}
	return false
}

// walk checks the fields of all structs in a type.
func (c *tagCheck) walk(of types.Type, at token.Pos) {
	if c.seen[of] || marshals(of) {
		return
	}
	c.seen[of] = true
	switch u := of.Underlying().(type) {
	case *types.Pointer:
		c.walk(u.Elem(), at)
	case *types.Slice:
		c.walk(u.Elem(), at)
	case *types.Array:
		c.walk(u.Elem(), at)
	case *types.Map:
		c.walk(u.Elem(), at)
	case *types.Struct:
		for i := range u.NumFields() {
			field := u.Field(i)
			key, _, _ := strings.Cut(reflect.StructTag(u.Tag(i)).Get("json"), ",")
			switch {
			case key == "-":
			case field.Embedded() && key == "":
				c.walk(field.Type(), at)
			case !field.Exported():
			case key == "":
				c.Errorf("%s: the field %s of %s has no key in a json tag", c.fset.Position(at), field.Name(), of)
			default:
				c.walk(field.Type(), at)
			}
		}
	}
}

// marshals reports whether a type says itself what its JSON is.
func marshals(of types.Type) bool {
	for _, name := range []string{"MarshalJSON", "MarshalText"} {
		if obj, _, _ := types.LookupFieldOrMethod(of, true, nil, name); obj != nil {
			if _, ok := obj.(*types.Func); ok {
				return true
			}
		}
	}
	return false
}
