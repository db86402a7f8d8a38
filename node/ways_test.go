package node

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestMoreOriginsThanWays: an origin beyond those that are kept is measured all the
// same, and the one that was not asked for longest makes room for it.
func TestMoreOriginsThanWays(t *testing.T) {
	w := newWays()
	var connections int
	w.connect = func(_ context.Context, url string) error {
		connections++
		w.connected(url[len("https://"):]+":443", 7*time.Millisecond)
		return nil
	}
	site := func(n int) string { return fmt.Sprintf("https://%d.example", n) }
	for n := range maxWays {
		_, err := w.measure(t.Context(), site(n))
		check(t, err)
	}
	w.of(site(0))
	for range 2 {
		if way, err := w.measure(t.Context(), site(maxWays)); err != nil || way != 7*time.Millisecond {
			t.Fatalf("one more origin is %s away: %v", way, err)
		}
	}
	if connections != maxWays+1 {
		t.Errorf("%d connections for %d origins", connections, maxWays+1)
	}
	if w.of(site(0)) == 0 || w.of(site(1)) != 0 {
		t.Error("another origin made room than the one that was not asked for longest")
	}
}
