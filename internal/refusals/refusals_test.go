package refusals

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestCounts(t *testing.T) {
	var c Counts
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			c.Add(Stream, Share)
			c.Add(HTTP, Token)
			c.Add(HTTP, Host)
		})
	}
	all.Wait()
	want := []Count{{HTTP, Host, 10}, {HTTP, Token, 10}, {Stream, Share, 10}}
	if got := c.All(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	var none *Counts
	if none.Add(HTTP, Full); none.All() != nil {
		t.Errorf("nil counts %v", none.All())
	}
}

func TestLastHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Counts
		c.Add(HTTP, Host)
		c.Add(HTTP, Host)
		time.Sleep(50 * time.Minute)
		c.Add(Stream, Full)
		c.Add(Stream, Share)
		if got, want := c.LastHour(), []Count{{HTTP, Host, 2}, {Stream, Full, 1}, {Stream, Share, 1}}; !slices.Equal(got, want) {
			t.Errorf("%v", got)
		}
		time.Sleep(20 * time.Minute)
		if got, want := c.LastHour(), []Count{{Stream, Full, 1}, {Stream, Share, 1}}; !slices.Equal(got, want) {
			t.Errorf("later %v", got)
		}
		for range 1000 {
			time.Sleep(time.Minute)
			c.Add(Frame, Malformed)
		}
		if got := c.LastHour(); len(got) != 1 || got[0].Times < 55 || got[0].Times > 61 || len(c.recent) > 13 {
			t.Errorf("after a long time %v of %d slots", got, len(c.recent))
		}
	})
}

// TestKnown: every place and reason that has a name is in a known pair.
func TestKnown(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "refusals.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			if kind, ok := v.Type.(*ast.Ident); ok && (kind.Name == "Where" || kind.Name == "Reason") {
				named = append(named, strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`))
			}
		}
		return true
	})
	if len(named) < 10 {
		t.Fatalf("found %q only", named)
	}
	for _, name := range named {
		if !slices.ContainsFunc(Known, func(c Count) bool { return string(c.Where) == name || string(c.Reason) == name }) {
			t.Errorf("add the pairs of %q to Known", name)
		}
	}
}
