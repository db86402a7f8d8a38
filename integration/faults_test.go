package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestBothManagersKilled kills manager and secondary at once: the next peer in
// rank takes over, a follower loses nothing, and the two come back as peers.
func TestBothManagersKilled(t *testing.T) {
	t.Parallel() // it waits more than it works
	o := newOrigin(t)
	n := newNetwork(t, "500ms")
	feeds := make(map[*peer]*feed)
	var join []*peer
	for i := range 4 {
		f := newFeed(fmt.Sprintf("f%d", i), 2)
		p := n.peer(join, fmt.Sprintf("news=f%d@%s", i, o.feed(f)))
		feeds[p], join = f, n.peers[:1]
	}
	outside := n.peer(join, "sport=s@"+o.feed(newFeed("s", 1)))
	n.formed(map[string]int{"news": 4, "sport": 1}, n.peers...)
	news := n.peers[:4]
	f := n.follow(outside, "--theme", "news", "late")
	f.event(t, 10*time.Second, "the first answer", func(o object) bool { return o["event"] != nil })

	m := n.manager("news", news...)
	var s *peer
	until(t, 10*time.Second, "a secondary", func() bool {
		c := n.catalogue(m, "news")
		for _, p := range news {
			if c != nil && p.id == c.str("secondary") {
				s = p
			}
		}
		return s != nil
	})
	m.kill()
	s.kill()
	rest := others(others(news, m), s)
	n.manager("news", rest...)
	for i, p := range rest {
		title := fmt.Sprintf("late %d", i)
		feeds[p].add(title, "x", time.Time{})
		f.event(t, 30*time.Second, title, func(o object) bool { return o.str("title") == title })
	}
	n.start(m)
	n.start(s)
	n.formed(map[string]int{"news": 4, "sport": 1}, n.peers...)
	n.manager("news", news...)
	shownOnce(t, f)
}

// TestStoppedManager stops the manager as an overloaded machine would, and lets
// it go on: it must find that its term is over.
func TestStoppedManager(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "500ms")
	var join []*peer
	for i := range 3 {
		name := fmt.Sprintf("f%d", i)
		n.peer(join, "news="+name+"@"+o.feed(newFeed(name, 2)))
		join = n.peers[:1]
	}
	n.formed(map[string]int{"news": 3}, n.peers...)
	m := n.manager("news", n.peers...)
	m.signal(syscall.SIGSTOP)
	rest := others(n.peers, m)
	next := n.manager("news", rest...)
	m.signal(syscall.SIGCONT)
	if again := n.manager("news", n.peers...); again == m && next != m {
		t.Errorf("the stopped manager took its place back: a lower term was obeyed")
	}
	n.formed(map[string]int{"news": 3}, n.peers...)
}

// TestRestartKeepsHistory kills a lone peer and starts it again: nothing is
// lost, nothing is there twice, the term does not fall, and it is ready soon.
func TestRestartKeepsHistory(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	f := newFeed("alone", 9)
	n := newNetwork(t, "500ms")
	p := n.peer(nil, "news=alone@"+o.feed(f))
	until(t, 10*time.Second, "nine entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == 9 })
	before := n.query(p, "--theme", "news").entries()
	term := n.catalogue(p, "news").num("term")
	for range 3 {
		p.kill()
		n.start(p)
		after := n.query(p, "--theme", "news").entries()
		if len(after) != len(before) {
			t.Fatalf("%d entries before the kill, %d after", len(before), len(after))
		}
		for i := range after {
			if after[i].str("id") != before[i].str("id") {
				t.Errorf("entry %d is %s, was %s", i, after[i].str("id"), before[i].str("id"))
			}
		}
		now := n.catalogue(p, "news").num("term")
		if now < term {
			t.Errorf("the term fell from %d to %d", term, now)
		}
		term = now
	}
	f.add("fresh after the restart", "x", time.Time{})
	until(t, 10*time.Second, "a new entry", func() bool { return len(n.query(p, "--theme", "news").entries()) == 10 })
}

// TestDataDirectory holds what a data directory can be wrong in.
func TestDataDirectory(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, "500ms")
	p := n.peer(nil)
	for _, name := range []string{"token", "feedring.sock", "identity.key"} {
		st, err := os.Stat(filepath.Join(p.data, name))
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, st.Mode())
		}
	}
	second := command(t, p.args...)
	if second.code != 1 || !strings.Contains(second.stderr, "use by another process") {
		t.Errorf("a second process on one directory: %v", second)
	}
	if code := p.stop(t, 5*time.Second); code != 0 {
		t.Errorf("exit %d", code)
	}

	key := filepath.Join(p.data, "identity.key")
	good, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	if r := command(t, p.args...); r.code != 1 || !strings.Contains(r.stderr, "chmod") {
		t.Errorf("a key that others can read: %v", r)
	}
	if err := os.Chmod(key, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(key, good[:len(good)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if r := command(t, p.args...); r.code != 1 || !strings.Contains(r.stderr, "identity.key") {
		t.Errorf("a corrupt key: %v", r)
	}
	if now, _ := os.ReadFile(key); len(now) != len(good)/2 {
		t.Error("the corrupt key was replaced")
	}
	if err := os.WriteFile(key, good, 0o600); err != nil {
		t.Fatal(err)
	}
	id := p.id
	n.start(p)
	if p.id != id {
		t.Errorf("the peer came back as %s, not %s", p.id, id)
	}
}

// TestManyBehindOneAddress starts thirty followers of one machine at one peer.
func TestManyBehindOneAddress(t *testing.T) {
	t.Parallel()
	const readers = 30
	o := newOrigin(t)
	f := newFeed("busy", 3)
	n := newNetwork(t, "1s")
	p := n.peer(nil, "news=busy@"+o.feed(f))
	until(t, 10*time.Second, "entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == 3 })
	var all []*process
	for range readers {
		all = append(all, n.follow(p, "--theme", "news"))
	}
	for _, r := range all {
		r.event(t, 30*time.Second, "the first answer", func(o object) bool { return o.str("event") == "answered" })
	}
	f.add("for everybody", "x", time.Time{})
	for _, r := range all {
		r.event(t, 15*time.Second, "a new entry", func(o object) bool { return o.str("title") == "for everybody" })
	}
	if c := n.catalogue(p, "news"); c == nil {
		t.Error("no catalogue")
	}
	if hits := o.hits("busy", 200); hits > 3 {
		t.Errorf("thirty readers cost the origin %d whole documents", hits)
	}
}

// TestTwoNetworksNeverMix joins a peer of another network.
func TestTwoNetworksNeverMix(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	one := newNetwork(t, "500ms", "--network", "one")
	a := one.peer(nil, "news=a@"+o.feed(newFeed("a", 1)))
	two := newNetwork(t, "500ms", "--network", "two")
	b := two.peer([]*peer{a}, "news=b@"+o.feed(newFeed("b", 1)))
	until(t, 20*time.Second, "looks at b's feed, and both groups", func() bool {
		return o.hits("b", 0) > 2 && one.admitted(a) > 0 && two.admitted(b) > 0
	})
	for _, got := range []int{one.admitted(a), two.admitted(b)} {
		if got != 1 {
			t.Errorf("a group of %d peers over two networks", got)
		}
	}
}
