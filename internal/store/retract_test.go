package store

import (
	"bytes"
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
