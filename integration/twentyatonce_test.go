package integration

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// TestTwentyAtOnce starts twenty peers of one theme at the same instant, who
// know one first peer: they are one group with one manager, and stay so.
func TestTwentyAtOnce(t *testing.T) {
	t.Parallel()
	const many = 20
	o := newOrigin(t)
	n := newNetwork(t, "1s", "--interval", "1h")
	url := o.feed(newFeed("crowd", 1))
	first := n.peer(nil)
	var waiting []*peer
	for i := range many {
		waiting = append(waiting, n.prepare([]*peer{first}, fmt.Sprintf("news=p%d@%s?%d", i, url, i)))
	}
	for _, p := range waiting {
		p.process = start(t, p.args...)
	}
	for _, p := range waiting {
		n.ready(p)
	}
	// views asks every peer once. It returns the manager and the term that all
	// who answer show, and whether all twenty show a group of twenty. A busy
	// machine may keep a peer silent for so long that a view drops it for a
	// while; it must not get another manager from that.
	views := func() (manager string, term int, whole bool) {
		whole = true
		for _, p := range waiting {
			c := n.ownView(p, "news")
			if c == nil {
				whole = false
				continue
			}
			if manager != "" && (c.str("manager") != manager || c.num("term") != term) {
				return "", 0, false
			}
			manager, term = c.str("manager"), c.num("term")
			whole = whole && len(c.list("peers")) == many
		}
		return manager, term, whole
	}
	var manager string
	var term int
	var whole bool
	until(t, 2*time.Minute, "one group of twenty", func() bool { manager, term, whole = views(); return whole })
	deadline := time.Now().Add(5 * time.Second) // 5 r
	until(t, time.Minute, "five refresh periods under one manager", func() bool {
		m, at, whole := views()
		if m != manager || at != term {
			t.Fatalf("manager %s of term %d became %s of %d", manager, term, m, at)
		}
		return whole && time.Now().After(deadline)
	})
}

// TestMerge founds two networks of the same themes apart; a peer that knows
// both makes them one.
func TestMerge(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "500ms")
	var founders, all []*peer
	for side := range 2 {
		var join []*peer
		for _, theme := range []string{"news", "sport"} {
			name := fmt.Sprintf("%s%d", theme, side)
			p := n.peer(join, theme+"="+name+"@"+o.feed(newFeed(name, 2)))
			all, join = append(all, p), []*peer{p}
			if theme == "news" {
				founders = append(founders, p)
			}
		}
		n.formed(map[string]int{"news": 1, "sport": 1}, all[2*side:]...)
	}
	bridge := n.peer(founders, "science=bridge@"+o.feed(newFeed("bridge", 1)))
	n.formed(map[string]int{"news": 2, "science": 1, "sport": 2}, append(all, bridge)...)
	n.manager("news", all[0], all[2])
	n.manager("sport", all[1], all[3])
	for _, p := range append(all, bridge) {
		until(t, 15*time.Second, "all entries everywhere", func() bool {
			return len(n.query(p, "--theme", "news").entries()) == 4 && len(n.query(p, "--theme", "sport").entries()) == 4 &&
				len(n.query(p, "story").entries()) == 9
		})
	}
}

// TestAnyPeerReachesAll joins through the last peer of a chain in which each
// knows only the one before, and asks for every theme.
func TestAnyPeerReachesAll(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "500ms")
	themes := []string{"arts", "crime", "health", "labour", "sport"}
	var last []*peer
	for _, theme := range themes {
		last = []*peer{n.peer(last, theme+"="+theme+"@"+o.feed(newFeed(theme, 1)))}
	}
	alone := n.peer(last)
	for _, theme := range themes {
		until(t, 15*time.Second, theme+" through a peer of no group", func() bool {
			return len(n.query(alone, "--theme", theme).entries()) == 1
		})
	}
}

// TestStoppedFollower stops a follower while others read on. It gets
// everything when it goes on, nothing twice, and costs nobody anything.
func TestStoppedFollower(t *testing.T) {
	t.Parallel()
	const entries = 60
	o := newOrigin(t)
	f := newFeed("busy", 1)
	n := newNetwork(t, "500ms", "--interval", "100ms")
	p := n.peer(nil, "news=busy@"+o.feed(f))
	until(t, 10*time.Second, "the first entry", func() bool { return len(n.query(p, "--theme", "news").entries()) == 1 })
	stopped, other := n.follow(p, "--theme", "news"), n.follow(p, "--theme", "news")
	for _, r := range []*process{stopped, other} {
		r.event(t, 10*time.Second, "the first answer", func(o object) bool { return o.str("event") == "answered" })
	}
	stopped.signal(syscall.SIGSTOP)
	body := fmt.Sprintf("%020000d", 0)
	for i := range entries {
		title := fmt.Sprintf("entry %d", i)
		f.add(title, body, time.Time{})
		if i%15 == 14 { // the feed shows twenty at once
			other.event(t, 10*time.Second, title, func(o object) bool { return o.str("title") == title })
		}
	}
	stopped.signal(syscall.SIGCONT)
	last := fmt.Sprintf("entry %d", entries-1)
	stopped.event(t, 15*time.Second, last, func(o object) bool { return o.str("title") == last })
	for _, r := range []*process{stopped, other} {
		shownOnce(t, r)
		until(t, 10*time.Second, "all entries", func() bool {
			return len((result{objects: objects(r.output())}).entries()) == entries+1
		})
	}
}

// TestKilledClient kills a follower: its place is free again.
func TestKilledClient(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=p@"+o.feed(newFeed("p", 1)))
	clients := func() int {
		c := n.catalogue(p, "news")
		if c == nil || len(c.list("peers")) != 1 {
			return -1
		}
		return object(c.list("peers")[0].(map[string]any)).num("clients")
	}
	var readers []*process
	for range 3 {
		readers = append(readers, n.follow(p, "--theme", "news"))
	}
	until(t, 15*time.Second, "three clients", func() bool { return clients() == 3 })
	readers[0].kill()
	readers[1].stop(t, 5*time.Second)
	until(t, 25*time.Second, "one client", func() bool { return clients() == 1 })
	readers[2].kill()
	until(t, 25*time.Second, "no client", func() bool { return clients() == 0 })
}
