package ask

import (
	"errors"
	"slices"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
)

// A run that is killed after a print leaves a line for it, and the next one does
// not print it again, whichever of state and file was written last.
func TestPrintedIsNotPrintedAgain(t *testing.T) {
	a := &commands{&command.Env{Data: t.TempDir()}}
	asked := feedring.Query{Theme: "news", Words: "x", Limit: 50}
	open := func() *saved {
		t.Helper()
		s, err := a.openSaved("k", asked, typedParts{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	var out []string
	print := func(s *saved, keys ...string) {
		t.Helper()
		for _, key := range keys {
			if _, err := s.once(key, func() error { out = append(out, key); return nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
	first := open()
	print(first, "1", "2")
	print(open(), "1", "2", "3") // the one before was killed
	third := open()
	print(third, "3")     // 1 and 2 do not come again
	third.setCursor("id") // and the cursor passes 3
	if err := third.write(); err != nil {
		t.Fatal(err)
	}
	last := open()
	if last.LastEvent != "id" {
		t.Errorf("the cursor is %q", last.LastEvent)
	}
	print(last, "2", "1", "4")
	if !slices.Equal(out, []string{"1", "2", "3", "4"}) {
		t.Errorf("printed %q", out)
	}
	last.caughtUp()
	print(last, "1")
	if out[len(out)-1] != "1" {
		t.Error("what comes after all was met is still held back")
	}

	failing := errors.New("the pipe is closed")
	if _, err := last.once("5", func() error { return failing }); !errors.Is(err, failing) {
		t.Errorf("a print that fails: %v", err)
	}
	print(open(), "5")
	if out[len(out)-1] != "5" {
		t.Error("what was not printed is taken for printed")
	}
}
