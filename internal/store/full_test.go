package store

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/feedring/feedring"
)

// meter says that every disk has so many bytes left. The writer asks after it
// answered, too.
type meter struct{ bytes atomic.Int64 }

func newMeter(bytes int64) *meter {
	m := &meter{}
	m.bytes.Store(bytes)
	return m
}

func (m *meter) Free(string) (int64, error) { return m.bytes.Load(), nil }

// TestFull has a disk that fills up, lets room be made, and works again.
func TestFull(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	left := newMeter(1 << 30)
	s.disk.Meter = left
	fill(t, s, 20, 20)
	r := random(3)
	late := makeItem(r, 0, 50)

	left.bytes.Store(defaultReserve - 1)
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
	left.bytes.Store(defaultReserve)
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

// TestRefuses: whoever asks is told why the store takes nothing, and when it does
// again.
func TestRefuses(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	left := newMeter(1 << 30)
	s.disk.Meter = left
	check(t, s.Refuses())
	left.bytes.Store(defaultReserve - 1)
	if err := s.Refuses(); !errors.Is(err, ErrFull) {
		t.Errorf("a full disk: %v", err)
	}
	left.bytes.Store(1 << 30)
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
