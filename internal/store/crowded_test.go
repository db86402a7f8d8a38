package store

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/store/disk"
)

// TestKilledSoonAgainAndAgain kills each process after its first entry: no start
// waits for tables that nobody compacts.
func TestKilledSoonAgainAndAgain(t *testing.T) {
	dir := t.TempDir()
	const rounds = 15
	for round := range rounds {
		within, cancel := context.WithTimeout(ctx, time.Minute)
		child := exec.CommandContext(within, os.Args[0])
		child.Env = append(os.Environ(), crashDir+"="+dir)
		out, err := child.StdoutPipe()
		check(t, err)
		check(t, child.Start())
		first := bufio.NewScanner(out)
		stored := first.Scan()
		var feed, n int
		if _, err := fmt.Sscanf(first.Text(), "%d %d", &feed, &n); stored && err != nil {
			t.Fatalf("round %d: %s", round, first.Text())
		}
		if !stored {
			mems, _ := filepath.Glob(filepath.Join(dir, "*.mem"))
			tables, _ := filepath.Glob(filepath.Join(dir, "*.sst"))
			t.Fatalf("round %d: nothing was stored in a minute, with %d tables and %d in memory", round, len(tables), len(mems))
		}
		check(t, child.Process.Kill())
		_ = child.Wait()
		cancel()
	}
	s := open(t, dir, Options{})
	if stats, err := s.Stats(); err != nil || stats.Entries < rounds {
		t.Errorf("%d entries, %v", stats.Entries, err)
	}
	eventually(t, "it is compacted, and still", func() bool {
		s.mu.RLock()
		defer s.mu.RUnlock()
		crowded, _ := disk.Crowded(s.db)
		return !crowded && s.db.Opts().NumCompactors == 0
	})
}

// TestMuchIsDeletedOnAFullDisk deletes, where the disk has no room for compactions, more
// than level 0 has room for.
func TestMuchIsDeletedOnAFullDisk(t *testing.T) {
	for _, free := range []int64{defaultReserve - 1, defaultReserve / 4} {
		s := open(t, t.TempDir(), Options{})
		left := newMeter(1 << 30)
		s.disk.Meter = left
		fill(t, s, 20, 20)
		left.bytes.Store(free)
		done := make(chan error, 1)
		go func() {
			var err error
			var changes []Change
			for n := range 150 {
				changes = append(changes, Change{Key: strings.Repeat(string(rune('a'+n%26)), MaxKey-n)})
			}
			for n := 0; n < 120 && err == nil; n++ { // 70 MB of keys
				err = s.Write(ctx, BucketMeta, changes)
			}
			done <- err
		}()
		select {
		case err := <-done:
			check(t, err)
		case <-time.After(3 * time.Minute):
			t.Fatal("nothing is deleted any more")
		}
		left.bytes.Store(1 << 30)
		mustAppend(t, s, makeItem(random(3), 0, 50))
		check(t, s.Close())
	}
}
