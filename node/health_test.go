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
	check(t, w.look(time.Now()))
	check(t, s.Close()) // then it takes nothing
	now := time.Now()
	for range 100 {
		if w.look(now) == nil {
			t.Fatal("it takes writes")
		}
		now = now.Add(time.Second)
	}
	if strings.Count(out.String(), "\n") != 1 {
		t.Errorf("logged:\n%s", out.String())
	}
	w.store = openStore(t)
	for i := range 100 {
		check(t, w.look(now))
		if again := strings.Contains(out.String(), "again"); again != (i >= 9) {
			t.Fatalf("after %d seconds: %s", i+1, out.String())
		}
		now = now.Add(time.Second)
	}
	if strings.Count(out.String(), "\n") != 2 {
		t.Errorf("logged:\n%s", out.String())
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
