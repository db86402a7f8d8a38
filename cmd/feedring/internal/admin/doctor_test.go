package admin

import (
	"bytes"
	"testing"

	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
)

// Only what is wrong fails: a note is well enough.
func TestChecksFailOnlyOnFail(t *testing.T) {
	for _, c := range []struct {
		check api.Check
		line  string
		fails bool
	}{
		{api.Check{Name: "x", OK: true, Detail: "d", Advice: "a"}, "ok    x: d\n", false},
		{api.Check{Name: "x", OK: true, Note: true, Detail: "d", Advice: "a"}, "note  x: d\n      a\n", false},
		{api.Check{Name: "x", Detail: "d", Advice: "a"}, "FAIL  x: d\n      a\n", true},
	} {
		var out bytes.Buffer
		a := &commands{&command.Env{Stdout: &out}}
		if err := a.printChecks([]api.Check{c.check}, false); (err != nil) != c.fails || out.String() != c.line {
			t.Errorf("%+v: %q, %v", c.check, out.String(), err)
		}
	}
}
