package group

import (
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// TestWindowIsAQuarterOfTheRefreshPeriod holds a calm peer's window to a quarter of the refresh period,
// however long that is: time.Duration has no room for the product of two.
func TestWindowIsAQuarterOfTheRefreshPeriod(t *testing.T) {
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

// TestRoundTripIsMeasuredAfterSleep: a manager that missed deadlines measures round trips from
// then on, however bad its local health: otherwise its members would go on waiting by
// the round trips of before.
func TestRoundTripIsMeasuredAfterSleep(t *testing.T) {
	c := newCluster(4)
	delay := 300 * time.Millisecond
	c.delay = func() time.Duration { return delay }
	ids := c.group(4)
	c.run(30 * time.Second)
	lead, err := c.leader()
	if err != nil {
		t.Fatal(err)
	}
	c.nodes[lead].paused = true
	c.run(800 * time.Millisecond)
	c.resume(lead)
	if c.nodes[lead].m.stretch() == time.Second {
		t.Fatal("the manager noticed no sleep")
	}
	delay = time.Millisecond
	c.run(5 * time.Second)
	for _, id := range ids {
		if w := c.nodes[id].m.window(); w > 300*time.Millisecond {
			t.Errorf("%s waits for %v, as if the network were slow", id, w)
		}
	}
}

// TestOwnSleepIsNoRoundTrip: who sleeps while its probe is under way learns nothing
// of the network by the answer.
func TestOwnSleepIsNoRoundTrip(t *testing.T) {
	for _, sleep := range []time.Duration{0, 2 * time.Second} {
		c := newCluster(4)
		c.group(4)
		c.run(30 * time.Second)
		lead, err := c.leader()
		if err != nil {
			t.Fatal(err)
		}
		ids := c.others(lead)
		n := c.nodes[ids[0]]
		c.step(n, Receive{From: ids[1], Message: Intention{Header: n.m.header(), Nonce: 7}})
		n.paused = true
		c.run(max(sleep, 3*time.Millisecond))
		alive := slices.IndexFunc(n.held, func(e event) bool {
			in, ok := e.in.(Receive)
			return ok && in.From == lead && in.Message.Verb() == Alive{}.Verb()
		})
		if alive < 0 {
			t.Fatal("the manager does not answer the probe")
		}
		answer := n.held[alive].in
		n.held = nil
		c.resume(n.id)
		n.m.health.ToldRoundTrip(100 * time.Millisecond)
		c.step(n, answer)
		if counts, want := n.m.health.RoundTrip() != 100*time.Millisecond, sleep == 0; counts != want {
			t.Errorf("after a sleep of %v the round trip counts: %t, not %t", sleep, counts, want)
		}
	}
}

// leading is who serves, of those that run.
func (c *cluster) leading() feedring.PeerID {
	for _, n := range c.alives() {
		if n.m.lead.serving {
			return n.id
		}
	}
	return ""
}
