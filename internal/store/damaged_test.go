package store

import (
	"errors"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/segment"
	"github.com/feedring/feedring/internal/store/values"
)

// failing is a disk that does not give anything while it is bad.
type failing struct {
	segment.System
	bad atomic.Bool
}

type failingFile struct {
	segment.File
	d *failing
}

func (d *failing) Open(name string) (segment.File, error) {
	f, err := d.System.Open(name)
	return failingFile{f, d}, err
}

func (d *failing) Create(name string) (segment.File, error) {
	f, err := d.System.Create(name)
	return failingFile{f, d}, err
}

func (f failingFile) ReadAt(b []byte, at int64) (int, error) {
	if f.d.bad.Load() {
		return 0, syscall.EIO
	}
	return f.File.ReadAt(b, at)
}

// openFailing opens a store on such a disk.
func openFailing(t *testing.T) (*Store, *failing) {
	t.Helper()
	dir, o := t.TempDir(), Options{}.withDefaults()
	d := &failing{System: segment.System(dir)}
	s, err := openWith(dir, o, values.On(d, o.Log))
	check(t, err)
	t.Cleanup(func() { s.Close() })
	return s, d
}

func tenItems() (items []Item) {
	r := random(1)
	for n := range 10 {
		items = append(items, makeItem(r, 0, n))
	}
	return items
}

func none(feedring.FeedRef) bool { return false }

// TestPruneOfADiskThatFails prunes, forgets nothing and stores again while the disk
// gives nothing: what it gives afterwards is what was there.
func TestPruneOfADiskThatFails(t *testing.T) {
	s, d := openFailing(t)
	items := tenItems()
	mustAppend(t, s, items...)
	for _, before := range []time.Time{items[0].Seen.Add(-time.Hour), items[5].Seen, items[9].Seen.Add(time.Hour)} {
		d.bad.Store(true)
		if n, err := s.Prune(ctx, before, none); n != 0 || !errors.Is(err, syscall.EIO) {
			t.Errorf("pruned %d before %s: %v", n, before, err)
		}
		if err := s.Append(ctx, items[4:5]); !errors.Is(err, syscall.EIO) {
			t.Errorf("stored again: %v", err)
		}
		d.bad.Store(false)
		got, err := s.Scan(ctx, items[0].Ref, feedring.Position{}, 0, 0)
		check(t, err)
		same(t, "afterwards", got, items)
		if head, _ := s.Head(items[0].Ref); head.Count != 10 || head.First != items[0].Position {
			t.Errorf("head %+v", head)
		}
	}
	checkOld(t, s)
	checkValues(t, s)
	if n, err := s.Prune(ctx, items[5].Seen, none); n != 5 || err != nil {
		t.Errorf("pruned %d, %v", n, err)
	}
	d.bad.Store(true)
	check(t, s.Forget(ctx, items[0].Ref))
	if _, ok := s.Head(items[0].Ref); ok {
		t.Error("what cannot be read is not forgotten")
	}
	checkValues(t, s)
}

// TestPruneKeepsAFreshHole: a damaged entry before one that is not old is polled again.
func TestPruneKeepsAFreshHole(t *testing.T) {
	for _, spoiled := range []int{0, 3} {
		for _, found := range []bool{true, false} {
			s := open(t, t.TempDir(), Options{})
			items := tenItems()
			mustAppend(t, s, items...)
			spoil(t, s, &items[spoiled])
			if found {
				_, _ = s.Get(items[0].Ref, items[spoiled].Position)
				eventually(t, "it is taken out", func() bool { return len(s.BeforeHoles()) == 1 })
			}
			_, err := s.Prune(ctx, items[spoiled].Seen, none) // what is before it is old
			check(t, err)
			if at, holed := s.NextHole(items[0].Ref, feedring.Position{}); !holed || at != items[spoiled].Position {
				t.Errorf("entry %d: the hole is at %v, %t", spoiled, at, holed)
			}
			if head, _ := s.Head(items[0].Ref); head.Count != 9-spoiled || head.First != items[spoiled+1].Position {
				t.Errorf("entry %d: head %+v", spoiled, head)
			}
			mustAppend(t, s, items[spoiled])
			got, err := s.Scan(ctx, items[0].Ref, feedring.Position{}, 0, 0)
			check(t, err)
			same(t, "stored again", got, items[spoiled:])
			checkOld(t, s)
			checkValues(t, s)
		}
	}
}

// TestHoleGetsOld: the hole of an entry that was seen before a time, as it was lost
// before that, is pruned though no entry follows.
func TestHoleGetsOld(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	items := tenItems()
	mustAppend(t, s, items...)
	spoil(t, s, &items[9])
	_, err := s.Prune(ctx, items[9].Seen.Add(time.Hour), none)
	check(t, err)
	if at, holed := s.NextHole(items[0].Ref, feedring.Position{}); !holed || at != items[9].Position {
		t.Errorf("the hole is at %v, %t", at, holed)
	}
	_, err = s.Prune(ctx, time.Now().Add(time.Hour), none)
	check(t, err)
	if len(s.BeforeHoles()) > 0 {
		t.Error("the hole stays")
	}
}

// TestRetractionOfWhatCannotBeRead takes back an entry that the disk does not give for
// the moment, and one that is damaged, in the log and after it: nothing of the text is
// left, or the retraction is refused.
func TestRetractionOfWhatCannotBeRead(t *testing.T) {
	for name, retract := range map[string]func(*Store, Item) error{
		"in the log": func(s *Store, it Item) error { return s.Append(ctx, []Item{it}) },
		"without":    func(s *Store, it Item) error { return s.Retract(ctx, it) },
	} {
		t.Run(name, func(t *testing.T) {
			s, d := openFailing(t)
			items := tenItems()
			for i := range items {
				items[i].Payload = append([]byte("unheardof"), items[i].Payload...)
			}
			mustAppend(t, s, items[:2]...)
			d.bad.Store(true)
			if _, _, err := s.Latest(items[0].Ref, items[0].ID); !errors.Is(err, syscall.EIO) {
				t.Errorf("the latest version: %v", err)
			}
			if taken, err := s.Versions(ctx, items[0].Ref, items[0].ID); !errors.Is(err, syscall.EIO) {
				t.Errorf("versions %v, %v", taken, err)
			}
			for n, it := range items[:2] {
				back := items[2+n]
				back.ID, back.Version, back.Text, back.Payload, back.Retraction = it.ID, 2, nil, []byte("back"), true
				back.Takes = []feedring.Taken{{Position: it.Position, Hash: it.Hash, Seen: it.Seen}}
				d.bad.Store(n == 0)
				if n == 1 {
					spoil(t, s, &it)
				}
				err := retract(s, back)
				if n == 0 {
					if !errors.Is(err, syscall.EIO) {
						t.Errorf("taken back on a disk that fails: %v", err)
					}
					d.bad.Store(false)
					err = retract(s, back)
				}
				check(t, err)
				got, err := s.Get(it.Ref, it.Position)
				check(t, err)
				if !got.Tombstone || got.Hash != it.Hash || !got.Seen.Equal(it.Seen) || string(got.Payload) != "back" {
					t.Errorf("entry %d: left is %+v", n, got)
				}
			}
			eventually(t, "erased", func() bool { return onDisk(t, s.dir, "unheardof") == 0 })
			checkOld(t, s)
			checkValues(t, s)
		})
	}
}
