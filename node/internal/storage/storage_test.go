package storage

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/node/internal/nodetest"
)

// recoveries counts how often it was told that the store takes entries again.
type recoveries int

func (r *recoveries) StoreRecovered() { *r++ }

// TestFullDiskIsLoggedOnce: a disk that is full concerns all feeds, and the log is
// told once, also when a little room comes and goes.
func TestFullDiskIsLoggedOnce(t *testing.T) {
	s, err := store.Open(t.TempDir(), store.Options{})
	nodetest.Check(t, err)
	var out bytes.Buffer
	h := New(s, slog.New(slog.NewTextHandler(&out, nil)))
	var told recoveries
	h.Notify(&told)
	nodetest.Check(t, h.Check(time.Now()))
	nodetest.Check(t, s.Close()) // then it takes nothing
	now := time.Now()
	for range 100 {
		if h.Check(now) == nil {
			t.Fatal("it takes writes")
		}
		now = now.Add(time.Second)
	}
	if strings.Count(out.String(), "\n") != 1 {
		t.Errorf("logged:\n%s", out.String())
	}
	h.store = nodetest.OpenStore(t)
	for i := range 100 {
		nodetest.Check(t, h.Check(now))
		if logged := strings.Contains(out.String(), "again"); logged != (i >= 9) {
			t.Fatalf("after %d seconds: %s", i+1, out.String())
		}
		now = now.Add(time.Second)
	}
	if strings.Count(out.String(), "\n") != 2 || told != 1 {
		t.Errorf("told %d times, logged:\n%s", told, out.String())
	}
	if h.Refused(now, store.ErrNotFound) || !h.Refused(now, fmt.Errorf("writing: %w", store.ErrFull)) {
		t.Error("a write that the store refused is not told from others")
	}
	now = now.Add(wellAfter) // nobody looked meanwhile
	if err := h.Check(now); err != nil || told != 2 {
		t.Errorf("told %d times of what was over before somebody looked: %v", told, err)
	}
}
