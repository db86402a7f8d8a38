package main

import (
	"fmt"
	"go/ast"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/callgraph"
	"golang.org/x/tools/go/callgraph/cha"
	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// journeys counts the files that three journeys cross. journeys.txt names
// waypoints. Each is reached by the shortest chain of calls from the latest
// waypoint before it that has one: a call may have returned meanwhile. Where
// none has (a queue, a stream or a disk is between them) the next waypoint
// begins anew.
func (p *product) journeys() {
	program, _ := ssautil.Packages(p.root, ssa.InstantiateGenerics)
	program.Build()
	all := ssautil.AllFunctions(program)
	graph := vta.CallGraph(all, cha.CallGraph(program))

	named := map[string]*ssa.Function{}
	for f := range all {
		if f.Pkg != nil && f.Parent() == nil && f.Synthetic == "" {
			named[p.nameOf(f)] = f
		}
	}
	handWritten := map[string]bool{}
	for _, pkg := range p.all {
		for _, f := range pkg.Syntax {
			handWritten[pkg.Fset.Position(f.Package).Filename] = !ast.IsGenerated(f)
		}
	}
	fileOf := func(f *ssa.Function) string {
		for f.Parent() != nil {
			f = f.Parent()
		}
		if name := program.Fset.Position(f.Pos()).Filename; handWritten[name] {
			return strings.TrimPrefix(name, p.dir+"/")
		}
		return ""
	}

	var journey string
	var passed []*ssa.Function // waypoints of the journey
	files, breaks := map[string]map[string]bool{}, map[string][]string{}
	var order []string
	for line := range lines(filepath.Join(p.dir, ".ci/measures/journeys.txt")) {
		if name, ok := strings.CutSuffix(line, ":"); ok {
			journey, passed = name, nil
			order = append(order, name)
			files[name] = map[string]bool{}
			continue
		}
		to, ok := named[line]
		if !ok {
			log.Printf("journeys.txt: no function %s", line)
			p.failed = true
			continue
		}
		files[journey][fileOf(to)] = true
		var path []*ssa.Function
		for _, from := range slices.Backward(passed) {
			if path = shortest(graph, from, to); path != nil {
				break
			}
		}
		if path == nil && len(passed) > 0 {
			breaks[journey] = append(breaks[journey], line)
		}
		for _, f := range path {
			if name := fileOf(f); name != "" {
				files[journey][name] = true
			}
		}
		passed = append(passed, to)
	}
	var counts []string
	for _, j := range order {
		counts = append(counts, fmt.Sprintf("%s %d", j, len(files[j])))
		if os.Getenv("LIST") != "" {
			names := []string{}
			for name := range files[j] {
				names = append(names, name)
			}
			slices.Sort(names)
			fmt.Fprintf(os.Stderr, "%s: %s\nno call leads to: %s\n", j, strings.Join(names, " "), strings.Join(breaks[j], " "))
		}
	}
	row("files crossed by a journey", "≤ 40; ≤ 30; ≤ 20", strings.Join(counts, "; "))
}

// nameOf is a function's room and name: node.Node.receive, group.Machine.onNotify.
func (p *product) nameOf(f *ssa.Function) string {
	name := f.Name()
	if r := f.Signature.Recv(); r != nil {
		t := r.Type().String()
		t = t[strings.LastIndexAny(t, "./")+1:]
		t, _, _ = strings.Cut(t, "[")
		name = t + "." + name
	}
	return p.room(f.Pkg.Pkg.Path()) + "." + name
}

func shortest(g *callgraph.Graph, from, to *ssa.Function) []*ssa.Function {
	came := map[*ssa.Function]*ssa.Function{from: nil}
	for next := []*ssa.Function{from}; len(next) > 0; {
		f := next[0]
		next = next[1:]
		if f == to {
			var path []*ssa.Function
			for ; f != nil; f = came[f] {
				path = append(path, f)
			}
			return path
		}
		n := g.Nodes[f]
		var calls []*ssa.Function
		if n != nil {
			for _, e := range n.Out {
				calls = append(calls, e.Callee.Func)
			}
		}
		calls = append(calls, f.AnonFuncs...) // what it makes runs on its behalf
		slices.SortFunc(calls, func(a, b *ssa.Function) int { return strings.Compare(a.String(), b.String()) })
		for _, c := range calls {
			if _, seen := came[c]; !seen {
				came[c] = f
				next = append(next, c)
			}
		}
	}
	return nil
}
