package integration

import (
	"path/filepath"
	"testing"
	"time"
)

// TestFollowerLearnsOfNewGroups: a reader who names no theme is shown the news of a
// group that is founded after it began to follow, however it chooses and whoever it
// asks.
func TestFollowerLearnsOfNewGroups(t *testing.T) {
	t.Parallel()
	n, o := newNetwork(t, "1s"), newOrigin(t)
	a := n.peer(nil, "news=lemonde@"+o.feed(newFeed("lemonde", 1)))
	b := n.peer([]*peer{a})
	n.formed(map[string]int{"news": 1}, a, b)
	followers := map[string]*process{
		"over libp2p":   n.follow(b),
		"by words":      n.follow(b, "kernel"),
		"by provider":   n.follow(b, "--provider", "lemonde"),
		"to be resumed": n.follow(b, "kernel", "--resume", "new", "--data", filepath.Join(n.dir, "follower")),
		"at the socket": start(t, "follow", "--json", "--data", b.data),
		"and there too": start(t, "follow", "--json", "--data", b.data, "--provider", "lemonde", "kernel"),
	}
	for name, f := range followers {
		f.event(t, 20*time.Second, name+": a first answer", func(o object) bool { return o.str("event") == "answered" })
	}
	later := newFeed("later", 1)
	c := n.peer([]*peer{b}, "sport=lemonde@"+o.feed(later))
	n.formed(map[string]int{"news": 1, "sport": 1}, a, b, c)
	until(t, 20*time.Second, "the first look", func() bool { return c.entriesHeld(t) == 1 })
	later.add("a new kernel", "", time.Now())
	for name, f := range followers { // the ring is asked every 30 seconds
		f.event(t, 60*time.Second, name+": an entry of the new group", func(o object) bool { return o.str("title") == "a new kernel" })
	}
	later.add("another kernel", "", time.Now())
	for name, f := range followers {
		f.event(t, 20*time.Second, name+": the next entry", func(o object) bool { return o.str("title") == "another kernel" })
	}
}
