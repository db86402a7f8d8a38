// Command measures counts how large and how tangled the product is, and prints
// one Markdown table: `make measures`, whose output stands in docs/architecture.md.
//
// It reads the checkout in the directory that it is given. The journeys are
// counted along calls between named functions, from waypoint to waypoint of
// journeys.txt.
package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/types"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: measures DIRECTORY")
	}
	p := load(os.Args[1])
	p.sizes()
	p.structs()
	p.journeys()
	p.words()
	p.documented()
	p.dependencies()
	if p.failed {
		os.Exit(1)
	}
}

// product is the hand-written code that is shipped, and what finds it.
type product struct {
	dir    string
	module string
	all    []*packages.Package // what the product consists of
	root   []*packages.Package // as they were loaded: with the simulator
	failed bool
}

// apart is what the product's figures leave out: the simulator.
var apart = regexp.MustCompile(`/(internal/sim|cmd/feedring-sim)(/|$)`)

func load(dir string) *product {
	dir, err := filepath.Abs(dir)
	must(err)
	cfg := &packages.Config{
		Dir: dir,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
			packages.NeedImports | packages.NeedDeps | packages.NeedModule,
	}
	loaded, err := packages.Load(cfg, "./...")
	must(err)
	if packages.PrintErrors(loaded) > 0 {
		os.Exit(1)
	}
	p := &product{dir: dir, root: loaded}
	for _, pkg := range loaded {
		p.module = pkg.Module.Path
		if !apart.MatchString(pkg.PkgPath) && !strings.HasSuffix(pkg.PkgPath, "/integration") {
			p.all = append(p.all, pkg)
		}
	}
	return p
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func row(measure, goal string, figure any) { fmt.Printf("| %s | %s | %v |\n", measure, goal, figure) }

// room is a package's folder.
func (p *product) room(path string) string {
	if r := strings.TrimPrefix(strings.TrimPrefix(path, p.module), "/"); r != "" {
		return r
	}
	return "."
}

// files calls do for each hand-written file.
func (p *product) files(do func(pkg *packages.Package, name string, f *ast.File)) {
	for _, pkg := range p.all {
		for _, f := range pkg.Syntax {
			name := pkg.Fset.Position(f.Package).Filename
			if !ast.IsGenerated(f) && strings.HasPrefix(name, p.dir) {
				do(pkg, name, f)
			}
		}
	}
}

func (p *product) sizes() {
	fmt.Println("| measure | goal | figure |")
	fmt.Println("| --- | --- | --- |")
	lines, total := map[string]int{}, 0
	p.files(func(pkg *packages.Package, name string, _ *ast.File) {
		text, err := os.ReadFile(name)
		must(err)
		n := strings.Count(string(text), "\n")
		lines[p.room(pkg.PkgPath)] += n
		total += n
	})
	var above []string
	for room, n := range lines {
		if n > 2000 {
			above = append(above, fmt.Sprintf("%s %d", room, n))
		}
	}
	slices.Sort(above)
	row("product lines", "≤ 62,000", total)
	row("packages above 2,000 lines", "≤ 8", fmt.Sprintf("%d: %s", len(above), strings.Join(above, ", ")))
}

func (p *product) structs() {
	fields := func(room, name string) int {
		for _, pkg := range p.all {
			if p.room(pkg.PkgPath) == room {
				return pkg.Types.Scope().Lookup(name).Type().Underlying().(*types.Struct).NumFields()
			}
		}
		return -1
	}
	row("fields of `node.Node`; `group.Machine`", "≤ 20; ≤ 30", fmt.Sprintf("%d; %d", fields("node", "Node"), fields("group", "Machine")))

	var wired []string
	p.files(func(pkg *packages.Package, name string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			t, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			s, ok := t.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range s.Fields.List {
				if !calls(pkg.TypesInfo.TypeOf(field.Type)) {
					continue
				}
				for _, id := range field.Names {
					wired = append(wired, fmt.Sprintf("%s.%s.%s", p.room(pkg.PkgPath), t.Name.Name, id.Name))
				}
			}
			return true
		})
	})
	slices.Sort(wired)
	inNode := 0
	for _, w := range wired {
		if strings.HasPrefix(w, "node") {
			inNode++
		}
	}
	row("function-valued fields of structs: in `node` and its rooms; elsewhere", "0; those that programs set", fmt.Sprintf("%d; %d", inNode, len(wired)-inNode))
	if os.Getenv("LIST") != "" {
		for _, w := range wired {
			fmt.Fprintln(os.Stderr, w)
		}
	}
}

// calls reports whether a field holds a function of our own kind: what ends a
// context is a value of the standard library's.
func calls(t types.Type) bool {
	if named, ok := t.(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "context" {
		return false
	}
	switch t := t.Underlying().(type) {
	case *types.Signature:
		return true
	case *types.Map:
		return calls(t.Elem())
	case *types.Slice:
		return calls(t.Elem())
	}
	return false
}

// words counts declared names that the project gave up: banned.txt.
func (p *product) words() {
	banned := map[string]bool{}
	for line := range lines(filepath.Join(p.dir, ".ci/measures/banned.txt")) {
		banned[line] = true
	}
	found := map[string]bool{}
	p.files(func(pkg *packages.Package, _ string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && lasting(pkg.TypesInfo.Defs[id]) {
				room := p.room(pkg.PkgPath)
				for _, key := range []string{id.Name, room + "." + id.Name} {
					if banned[key] {
						found[room+"."+id.Name] = true
					}
				}
			}
			return true
		})
	})
	row("declared names of the old vocabulary", "0", len(found))
	if os.Getenv("LIST") != "" {
		for name := range found {
			fmt.Fprintln(os.Stderr, "old name:", name)
		}
	}
}

// lasting reports whether a name is more than a function's own: it is known to
// others of its package.
func lasting(o types.Object) bool {
	switch o := o.(type) {
	case nil:
		return false
	case *types.Func:
		return true
	case *types.Var:
		return o.IsField() || o.Parent() == o.Pkg().Scope()
	}
	return o.Pkg() != nil && o.Parent() == o.Pkg().Scope()
}

func lines(name string) func(func(string) bool) {
	f, err := os.Open(name)
	must(err)
	return func(yield func(string) bool) {
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			text, _, _ := strings.Cut(s.Text(), "#")
			if text = strings.TrimSpace(text); text != "" && !yield(text) {
				return
			}
		}
	}
}

// documented counts exported names with a comment, and the client's verbs with
// an example.
func (p *product) documented() {
	all, with := 0, 0
	count := func(name *ast.Ident, docs ...*ast.CommentGroup) {
		if name.IsExported() {
			all++
			if slices.ContainsFunc(docs, func(c *ast.CommentGroup) bool { return c != nil }) {
				with++
			}
		}
	}
	examples := regexp.MustCompile(`(?m)^func Example(\w*)\(`)
	p.files(func(pkg *packages.Package, _ string, f *ast.File) {
		if pkg.Name == "main" {
			return
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || ast.IsExported(receiver(d)) {
					count(d.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						count(s.Name, s.Doc, s.Comment, d.Doc)
					case *ast.ValueSpec:
						for _, id := range s.Names {
							count(id, s.Doc, s.Comment, d.Doc)
						}
					}
				}
			}
		}
	})
	row("exported names with a comment", "≥ 95 %", fmt.Sprintf("%.1f %%", 100*float64(with)/float64(all)))
	shown := 0
	for _, room := range []string{".", "client"} {
		names, err := filepath.Glob(filepath.Join(p.dir, room, "*_test.go"))
		must(err)
		for _, name := range names {
			text, err := os.ReadFile(name)
			must(err)
			shown += len(examples.FindAll(text, -1))
		}
	}
	row("examples in public packages", "≥ 1 for each verb of `client`", shown)
}

func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch at := t.(type) {
		case *ast.StarExpr:
			t = at.X
		case *ast.IndexExpr:
			t = at.X
		case *ast.IndexListExpr:
			t = at.X
		case *ast.Ident:
			return at.Name
		default:
			return ""
		}
	}
}

func (p *product) dependencies() {
	text, err := os.ReadFile(filepath.Join(p.dir, "go.mod"))
	must(err)
	mod, err := modfile.Parse("go.mod", text, nil)
	must(err)
	direct := 0
	for _, r := range mod.Require {
		if !r.Indirect {
			direct++
		}
	}
	row("direct dependencies", "≤ 28", direct)

	// A text below cmd and internal/web is advice to a person if it names a flag or
	// a command, or tells in the imperative what to do.
	advice := regexp.MustCompile(`(^|[\s"'(])--[a-z]|feedring (serve|feed|follow|query|status|doctor|vouch|check|retract|subscription|ring|themes|ping|join|opml|history|config)|` +
		`(^"|[:;] |, or |\()(write|use|try|run|stop|send|give|choose|make|name|restore|remove|come|ask|go|wait|split|subscribe|take|put|call|add|check|restart|move|correct|see|let|leave|keep|set|start|pick|change|open|mend|turn|say|link|answer|escape|find|delete|ping|look) [^%"]`)
	var texts []string
	p.files(func(pkg *packages.Package, _ string, f *ast.File) {
		room := p.room(pkg.PkgPath)
		if strings.HasPrefix(room, "cmd/") || strings.HasPrefix(room, "internal/web") && !strings.HasPrefix(room, "internal/websub") {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && advice.MatchString(lit.Value) {
				texts = append(texts, fmt.Sprintf("%s: %s", pkg.Fset.Position(lit.Pos()), lit.Value))
			}
			return true
		})
	})
	row("texts with advice made below `cmd` and `internal/web`", "0", len(texts))
	if len(texts) > 0 {
		fmt.Fprintf(os.Stderr, "%d texts with advice below cmd and internal/web: phrase them there (LIST=1 names them)\n", len(texts))
		p.failed = true
	}
	if os.Getenv("LIST") != "" {
		for _, t := range texts {
			fmt.Fprintln(os.Stderr, "text:", strings.TrimPrefix(t, p.dir+"/"))
		}
	}
}
