package group

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
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

// TestWindowIsOfTheNetworkNow: members joined when the network was slow, or was
// quick, and wait for objections by what it is now, which their manager measures
// and tells them.
func TestWindowIsOfTheNetworkNow(t *testing.T) {
	for _, test := range []struct {
		name        string
		joined, now time.Duration // one way
		least, most time.Duration // of the window
	}{
		{"joined when it was slow", 300 * time.Millisecond, time.Millisecond, 250 * time.Millisecond, 300 * time.Millisecond},
		{"joined when it was quick", time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, 700 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(4)
			delay := test.joined
			c.delay = func() time.Duration { return delay }
			ids := c.group(4)
			delay = test.now
			c.run(30 * time.Second)
			lead, err := c.leader()
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				if w := c.nodes[id].m.window(); w < test.least || w > test.most {
					t.Errorf("%s waits for %v, not for %v to %v", id, w, test.least, test.most)
				}
			}
			at := c.now
			c.crash(lead)
			for c.leading() == "" {
				if c.run(10 * time.Millisecond); c.now.Sub(at) > 2*time.Second {
					t.Fatalf("nobody manages %v later", c.now.Sub(at))
				}
			}
			if after := c.now.Sub(at); after > time.Second+test.most+4*test.now {
				t.Errorf("taken over after %v", after)
			}
		})
	}
}

// leading is who serves, of those that run.
func (c *cluster) leading() feedring.PeerID {
	for _, n := range c.alives() {
		if n.m.serving {
			return n.id
		}
	}
	return ""
}
