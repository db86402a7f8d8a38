package group

import (
	"testing"
	"time"
)

// TestWindow holds a calm peer's window to a quarter of the refresh period,
// however long that is: time.Duration has no room for the product of two.
func TestWindow(t *testing.T) {
	for _, refresh := range []time.Duration{20 * time.Millisecond, time.Second, 6 * time.Second, 10 * time.Second, time.Minute, time.Hour} {
		c := newCluster(1)
		c.alter = func(cfg *Config) { cfg.Refresh = refresh }
		n := c.start("a", "https://a.example/rss")
		c.step(n, Establish{})
		if got, want := n.m.window(), refresh/4; got != want {
			t.Errorf("the window of r = %s is %s, not %s", refresh, got, want)
		}
	}
}
