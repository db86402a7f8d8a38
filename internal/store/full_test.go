package store

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/feedring/feedring"
)

// TestFull has a disk that fills up, lets room be made, and works again.
func TestFull(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	var left int64 = 1 << 30
	// Every write asks, and the writer is idle whenever left changes.
	s.free = func(string) (int64, error) { return left, nil }
	fill(t, s, 20, 20)
	r := random(3)
	late := makeItem(r, 0, 50)

	left = defaultReserve - 1
	if err := s.Append(ctx, []Item{late}); !errors.Is(err, ErrFull) {
		t.Errorf("append on a full disk: %v", err)
	}
	if err := s.Put(ctx, BucketMeta, "a", nil); !errors.Is(err, ErrFull) {
		t.Errorf("put on a full disk: %v", err)
	}
	if items, _, err := s.Search(ctx, Search{}); err != nil || len(items) != 20 {
		t.Errorf("search on a full disk: %d, %v", len(items), err)
	}
	n, err := s.Prune(ctx, start.AddDate(1, 0, 0), func(feedring.FeedRef) bool { return false })
	if err != nil || n != 20 {
		t.Errorf("prune on a full disk: %d, %v", n, err)
	}
	left = defaultReserve
	mustAppend(t, s, late)
}

// TestWriteFails has badger fail to write as it does when the room ends in the
// middle: the store reports it, and goes on.
func TestWriteFails(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	fill(t, s, 20, 20)
	r := random(4)
	late := makeItem(r, 0, 50)
	s.failure = fmt.Errorf("cannot create new mem table err: %v", syscall.ENOSPC)
	if err := s.Append(ctx, []Item{late}); !errors.Is(err, ErrFull) {
		t.Errorf("append: %v", err)
	}
	s.failure = nil
	if _, err := s.Get(late.Ref, late.Position); !errors.Is(err, ErrNotFound) {
		t.Errorf("entry of a failed write: %v", err)
	}
	mustAppend(t, s, late)
	if heads := s.Heads(); len(heads) != 20 {
		t.Errorf("%d feeds", len(heads))
	}
}

// TestSpare has the room for closing held back while the store is open.
func TestSpare(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	if left, err := freeBytes(dir); err != nil || left < 1<<30 {
		t.Skipf("%d bytes left on this disk, %v", left, err)
	}
	if runtime.GOOS != "linux" {
		t.Skip("room is held back on Linux only")
	}
	info, err := os.Stat(s.sparePath())
	check(t, err)
	if info.Size() != spare {
		t.Errorf("%d bytes held back", info.Size())
	}
	check(t, s.Close())
	if _, err := os.Stat(s.sparePath()); !os.IsNotExist(err) {
		t.Errorf("after Close: %v", err)
	}
}

// TestRefuses: whoever asks is told why the store takes nothing, and when it does
// again.
func TestRefuses(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	var left int64 = 1 << 30
	s.free = func(string) (int64, error) { return left, nil }
	check(t, s.Refuses())
	left = defaultReserve - 1
	if err := s.Refuses(); !errors.Is(err, ErrFull) {
		t.Errorf("a full disk: %v", err)
	}
	left = 1 << 30
	check(t, s.Refuses())
	s.failure = syscall.ENOSPC
	if err := s.Put(ctx, BucketMeta, "a", nil); !errors.Is(err, ErrFull) {
		t.Errorf("put: %v", err)
	}
	s.failure = nil
	if err := s.Refuses(); !errors.Is(err, ErrFull) {
		t.Errorf("after a write that failed: %v", err)
	}
	check(t, s.Put(ctx, BucketMeta, "a", nil))
	check(t, s.Refuses())
}
