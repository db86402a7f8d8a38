package find

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/rows"
)

// FuzzCursor reads cursors that anybody may send.
func FuzzCursor(f *testing.F) {
	f.Add(string(newCursor(rows.KeyOf(time.Unix(0, 0), 1, feedring.Position{Epoch: 1, Sequence: 2}))))
	f.Fuzz(func(t *testing.T, text string) {
		if key, err := Cursor(text).key(); err == nil && string(newCursor(key)) != text {
			if again, err := newCursor(key).key(); err != nil || again != key {
				t.Errorf("cursor %q", text)
			}
		}
	})
}
