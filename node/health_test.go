package node

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/store"
)

// TestFullDiskIsLoggedOnce: a disk that is full concerns all feeds, and the log is
// told once, also when a little room comes and goes.
func TestFullDiskIsLoggedOnce(t *testing.T) {
	s, err := store.Open(t.TempDir(), store.Options{})
	check(t, err)
	var out bytes.Buffer
	w := &writes{store: s, log: slog.New(slog.NewTextHandler(&out, nil))}
	again := 0
	w.again = func() { again++ }
	check(t, w.Check(time.Now()))
	check(t, s.Close()) // then it takes nothing
	now := time.Now()
	for range 100 {
		if w.Check(now) == nil {
			t.Fatal("it takes writes")
		}
		now = now.Add(time.Second)
	}
	if strings.Count(out.String(), "\n") != 1 {
		t.Errorf("logged:\n%s", out.String())
	}
	w.store = openStore(t)
	for i := range 100 {
		check(t, w.Check(now))
		if told := strings.Contains(out.String(), "again"); told != (i >= 9) {
			t.Fatalf("after %d seconds: %s", i+1, out.String())
		}
		now = now.Add(time.Second)
	}
	if strings.Count(out.String(), "\n") != 2 || again != 1 {
		t.Errorf("told %d times, logged:\n%s", again, out.String())
	}
	if w.refused(now, store.ErrNotFound) || !w.refused(now, fmt.Errorf("writing: %w", store.ErrFull)) {
		t.Error("a write that the store refused is not told from others")
	}
	now = now.Add(writesWell) // nobody looked meanwhile
	if err := w.Check(now); err != nil || again != 2 {
		t.Errorf("told %d times of what was over before somebody looked: %v", again, err)
	}
}

// TestFullOnce: of all other lines those about the disk are details.
func TestFullOnce(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(fullOnce{slog.NewTextHandler(&out, nil)}).With("a", 1)
	log.Warn("not saved", "err", fmt.Errorf("writing: %w", store.ErrFull))
	log.Warn("seen", "err", store.ErrClosed)
	if s := out.String(); strings.Contains(s, "not saved") || !strings.Contains(s, "seen") {
		t.Error(s)
	}
}
