//go:build !race

package store

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestResident holds the store to what a small peer can spare: after 20,000
// entries of 1 KB, without a restart, it soon takes little memory, and it
// closes and opens quickly.
func TestResident(t *testing.T) {
	if testing.Short() {
		t.Skip("appends 20,000 entries")
	}
	dir := t.TempDir()
	s := open(t, dir, Options{})
	fill(t, s, 20_000, 20)
	t.Logf("resident after the last entry: %d MiB", resident(t)>>20)
	const most = 52 << 20 // of which the test itself is about 15
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(30 * time.Second); resident(t) > most; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("still %d MiB resident", resident(t)>>20)
		}
	}
	t.Logf("resident when idle: %d MiB", resident(t)>>20)
	if items, err := s.Scan(ctx, s.Refs()[0], s.Heads()[0].First, 0, 0); err != nil || len(items) != 999 {
		t.Errorf("%d entries, %v", len(items), err)
	}
	took(t, "close", time.Second, func() { check(t, s.Close()) })
	took(t, "open", time.Second, func() { s = open(t, dir, Options{}) })
}

// took allows several times the usual duration: tests may share a machine.
func took(t *testing.T, what string, most time.Duration, do func()) {
	t.Helper()
	began := time.Now()
	do()
	d := time.Since(began)
	if t.Logf("%s: %v", what, d); d > most {
		t.Errorf("%s took %v", what, d)
	}
}

// resident returns the bytes of this process that are in memory.
func resident(t testing.TB) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	check(t, err)
	_, line, _ := strings.Cut(string(status), "VmRSS:")
	var kb int64
	if _, err := fmt.Sscan(line, &kb); err != nil {
		t.Fatal(err)
	}
	return kb << 10
}
