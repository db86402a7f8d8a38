package store

import (
	"sync"
	"testing"
)

// TestTogether has many callers write while others read and the database is
// closed and opened under them.
func TestTogether(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	restless(s)
	var wg sync.WaitGroup
	for f := range 8 {
		wg.Go(func() {
			r := random(uint64(f))
			for n := range 40 {
				it := makeItem(r, f, n)
				if err := s.Append(ctx, []Item{it}); err != nil {
					t.Error(err)
				}
				got, err := s.Get(it.Ref, it.Position)
				if err != nil {
					t.Error(err)
				}
				same(t, "read back", []Item{got}, []Item{it})
				if _, _, err := s.Search(ctx, Search{Limit: 5}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if stats, err := s.Stats(); err != nil || stats.Entries != 320 {
		t.Errorf("%+v, %v", stats, err)
	}
}
