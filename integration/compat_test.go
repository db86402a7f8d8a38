package integration

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestOldAndNewPeersFormOneNetwork plays a group of one peer of this version and one of
// the version that FEEDRING_OLD names. Each publishes and serves the other's entries to
// clients of both versions, and takes over when the other, as the manager, is killed.
func TestOldAndNewPeersFormOneNetwork(t *testing.T) {
	old := os.Getenv("FEEDRING_OLD")
	if old == "" {
		t.Skip("FEEDRING_OLD names no binary of an earlier version: make compat builds one")
	}
	for name, versions := range map[string][2]string{"old manager": {old, binary}, "new manager": {binary, old}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits more than it works
			testTwoVersions(t, versions[0], versions[1])
		})
	}
}

// TestOldProgramRefusesANewDirectory starts the version that FEEDRING_OLD names with the
// data of this one: it says why it does not, and leaves them as they are.
func TestOldProgramRefusesANewDirectory(t *testing.T) {
	old := os.Getenv("FEEDRING_OLD")
	if old == "" {
		t.Skip("FEEDRING_OLD names no binary of an earlier version: make compat builds one")
	}
	o := newOrigin(t)
	n := newNetwork(t, "1s")
	a := n.prepare(nil, "news=one@"+o.feed(newFeed("one", 5)))
	n.start(a)
	n.formed(map[string]int{"news": 1}, a)
	held := func() bool {
		r := n.query(a, "--theme", "news")
		return r.code == 0 && len(r.entries()) == 5
	}
	until(t, 20*time.Second, "its entries", held)
	a.kill()
	r := commandOf(t, old, a.args...)
	if r.code == 0 || !strings.Contains(r.stderr+r.stdout, "newer version") || !strings.Contains(r.stderr+r.stdout, "update the program") {
		t.Errorf("the old program ends with %d and says %q, %q", r.code, r.stderr, r.stdout)
	}
	n.start(a)
	n.formed(map[string]int{"news": 1}, a)
	until(t, 20*time.Second, "its entries again", held)
}

// testTwoVersions has the peer of the first version manage at first.
func testTwoVersions(t *testing.T, first, second string) {
	o := newOrigin(t)
	one, two := newFeed("one", 5), newFeed("two", 7)
	n := newNetwork(t, "1s")
	a := n.prepare(nil, "news=one@"+o.feed(one))
	a.binary = first
	n.start(a)
	n.formed(map[string]int{"news": 1}, a)
	b := n.prepare([]*peer{a}, "news=two@"+o.feed(two))
	b.binary = second
	n.start(b)
	n.formed(map[string]int{"news": 2}, a, b)
	if m := n.manager("news", a, b); m != a {
		t.Fatalf("%s manages, and not the peer that was there first", m.id)
	}

	// serves waits until clients of both versions are served everything of one feed.
	serves := func(p *peer, provider string, entries int) {
		t.Helper()
		for _, client := range []string{first, second} {
			until(t, 20*time.Second, provider+" through "+p.id, func() bool {
				r := commandOf(t, client, "query", "--json", "--peer", p.addr, "--theme", "news", "--provider", provider)
				return r.code == 0 && len(r.entries()) == entries
			})
		}
	}
	for _, p := range []*peer{a, b} {
		serves(p, "one", 5)
		serves(p, "two", 7)
	}

	var followers []*process
	for _, p := range []*peer{a, b} {
		for _, client := range []string{first, second} {
			f := startOf(t, client, "follow", "--json", "--peer", a.addr, "--peer", b.addr, "--theme", "news", "breaking")
			f.event(t, 20*time.Second, "the first answer through "+p.id, func(o object) bool { return o["event"] != nil })
			followers = append(followers, f)
		}
	}
	publish := func(f *feed, title string) {
		t.Helper()
		f.add(title, "breaking", time.Time{})
		for _, follower := range followers {
			follower.event(t, 20*time.Second, title, func(o object) bool { return o.str("title") == title })
		}
	}
	publish(one, "From the manager")
	publish(two, "From the secondary")

	// Each takes over from the other.
	a.kill()
	n.manager("news", b)
	serves(b, "one", 6)
	publish(two, "After the first crash")
	listen, _, _ := strings.Cut(a.addr, "/p2p/")
	a.args = append(a.args, "--join", b.addr, "--listen", listen) // where followers know it
	n.start(a)
	n.formed(map[string]int{"news": 2}, a, b)
	if m := n.manager("news", a, b); m != b {
		t.Errorf("the peer that came back manages")
	}
	publish(one, "From the peer that came back")
	serves(a, "two", 9)
	b.kill()
	n.manager("news", a)
	serves(a, "two", 9)
	publish(one, "After the second crash")
	for _, f := range followers {
		shownOnce(t, f)
	}
}
