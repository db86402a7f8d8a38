package latency

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// connects counts connections.
type connects struct {
	*Table
	count *int
}

func (c connects) Connect(_ context.Context, url string) error {
	*c.count++
	c.Connected(url[len("https://"):]+":443", 7*time.Millisecond)
	return nil
}

// TestLatencyIsKeptOfOriginsAskedLast: an origin beyond those that are kept is measured all the
// same, and the one that was not asked for longest makes room for it.
func TestLatencyIsKeptOfOriginsAskedLast(t *testing.T) {
	w := New()
	connections := 0
	client := connects{w, &connections}
	site := func(n int) string { return fmt.Sprintf("https://%d.example", n) }
	for n := range maxOrigins {
		if _, err := w.Measure(t.Context(), client, site(n)); err != nil {
			t.Fatal(err)
		}
	}
	w.Of(site(0))
	for range 2 {
		if way, err := w.Measure(t.Context(), client, site(maxOrigins)); err != nil || way != 7*time.Millisecond {
			t.Fatalf("one more origin is %s away: %v", way, err)
		}
	}
	if connections != maxOrigins+1 {
		t.Errorf("%d connections for %d origins", connections, maxOrigins+1)
	}
	if w.Of(site(0)) == 0 || w.Of(site(1)) != 0 {
		t.Error("another origin made room than the one that was not asked for longest")
	}
}
