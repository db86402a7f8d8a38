package store

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/values"
)

// TestTakenBackIsNowhere takes an entry back and looks at every row for its
// text, before and after the store is opened again.
func TestTakenBackIsNowhere(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	r := random(9)
	it, back := makeItem(r, 0, 0), makeItem(r, 0, 1)
	it.Text, it.Payload = []byte(" unheardof "), []byte("<p>unheardof</p>")
	mustAppend(t, s, it)
	if rowsWith(t, s, "unheardof") == 0 {
		t.Fatal("it was never there")
	}
	versions, err := s.Versions(ctx, it.Ref, it.ID)
	check(t, err)
	if want := []feedring.Taken{{Position: it.Position, Hash: it.Hash, Seen: it.Seen}}; !slices.Equal(versions, want) {
		t.Fatalf("versions %v, want %v", versions, want)
	}
	back.ID, back.Version, back.Text, back.Retraction, back.Takes = it.ID, 2, nil, true, versions
	mustAppend(t, s, back)
	check(t, s.Close())
	s = open(t, dir, Options{})
	if n := rowsWith(t, s, "unheardof"); n > 0 {
		t.Errorf("%d rows still tell it", n)
	}
	if versions, err := s.Versions(ctx, it.Ref, it.ID); err != nil || len(versions) > 0 {
		t.Errorf("versions %v, %v", versions, err)
	}
	latest, found, err := s.Latest(it.Ref, it.ID)
	if err != nil || !found || !latest.Retraction || latest.Position != back.Position {
		t.Errorf("the latest version is %+v, %v", latest, err)
	}
}

// TestCurrent counts each entry once, whatever its versions, and none that was
// taken back.
func TestCurrent(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	r := random(11)
	var ref feedring.FeedRef
	counts := func(want int) {
		t.Helper()
		if n, err := s.Current(ref); err != nil || n != want {
			t.Errorf("%d entries, %v; want %d", n, err, want)
		}
	}
	for i := range 20 {
		it := makeItem(r, 0, i)
		it.ID = feedring.EntryID(fmt.Sprintf("%032x", i))
		ref = it.Ref
		mustAppend(t, s, it)
	}
	counts(20)
	for at, version := range []uint32{2, 3} {
		it := makeItem(r, 0, 20+at)
		it.ID, it.Version = feedring.EntryID(fmt.Sprintf("%032x", 7)), version
		mustAppend(t, s, it)
	}
	counts(20)
	for i, id := range []int{3, 7} {
		back := makeItem(r, 0, 22+i)
		back.ID, back.Version, back.Text, back.Retraction = feedring.EntryID(fmt.Sprintf("%032x", id)), 9, nil, true
		versions, err := s.Versions(ctx, ref, back.ID)
		check(t, err)
		back.Takes = versions
		mustAppend(t, s, back)
		counts(19 - i)
	}
	check(t, s.Close())
	s = open(t, dir, Options{})
	counts(18)
}

// rowsWith counts the rows of any kind with a text.
func rowsWith(t *testing.T, s *Store, text string) (n int) {
	t.Helper()
	check(t, s.view(func(txn values.Txn) error {
		return txn.Each(nil, nil, func(item values.Row) (bool, error) {
			return true, item.Value(func(value []byte) error {
				if bytes.Contains(value, []byte(text)) {
					n++
				}
				return nil
			})
		})
	}))
	return n
}
