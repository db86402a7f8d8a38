package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// besieged is a group of three and a ring of two, one hostile member of the
// group, and a reader who follows.
type besieged struct {
	*network
	t        *testing.T
	m        *member
	honest   []*peer // of news
	sport    *peer
	feed     *feed
	follower *process
	entries  int
	logged   int
}

func newBesieged(t *testing.T) *besieged {
	o, n := newOrigin(t), newNetwork(t, "1s", "--interval", "200ms")
	b := &besieged{network: n, t: t, feed: newFeed("p", 3), entries: 9}
	p := n.peer(nil, "news=p@"+o.feed(b.feed))
	q := n.peer([]*peer{p}, "news=q@"+o.feed(newFeed("q", 3)))
	s := n.peer([]*peer{p}, "news=s@"+o.feed(newFeed("s", 3)))
	b.honest = []*peer{p, q, s}
	b.sport = n.peer([]*peer{p}, "sport=sport@"+o.feed(newFeed("sport", 2)))
	n.formed(map[string]int{"news": 3, "sport": 1}, n.peers...)
	b.m = n.admittedMember(b.honest...)
	b.m.sportManager = feedring.PeerID(b.sport.id)
	b.follower = n.follow(q, "--theme", "news")
	b.follower.event(t, 10*time.Second, "the first answer", func(o object) bool { return o.str("event") == "answered" })
	b.logged = b.log()
	return b
}

// TestHostileMember is a peer with a good key, admitted like any other, that
// then sends each message of the protocol as it must not be sent. After each
// attack the group has one honest manager (the same one where the attack was no
// claim), readers are served everything and nothing twice, and what comes next
// reaches them.
func TestHostileMember(t *testing.T) {
	t.Parallel() // it waits more than it works
	b := newBesieged(t)
	for _, attacks := range [][]attack{claims(), roles(), catalogueLies(), headLies(), lookupLies(), frames(), ringLies(), unserved()} {
		for _, a := range attacks {
			if !t.Run(a.name, func(t *testing.T) { b.withstand(t, a) }) {
				return // what is said of the next would mean little
			}
		}
	}
	shownOnce(t, b.follower)
	if got := len((result{objects: objects(b.follower.output())}).entries()); got != b.entries {
		t.Errorf("the follower was shown %d entries of %d", got, b.entries)
	}
	if more := b.log() - b.logged; more > 100_000 {
		t.Errorf("%d bytes of log", more)
	}
}

// withstand attacks every honest peer of the group at once, and looks.
func (b *besieged) withstand(t *testing.T, a attack) {
	manager, term := b.reign(t)
	for _, p := range b.honest {
		a.do(b.m, b.m.facing(p))
	}
	b.m.hears(2)
	if a.claims {
		b.m.hears(6) // a second claim above it may wait for r, and for an admission r more (5.12)
	}
	now, number := b.reign(t)
	if !a.claims && (now != manager || number != term) {
		t.Errorf("manager %s of term %d became %s of %d", manager, term, now, number)
	}
	if number > term+1<<20 {
		t.Errorf("the term went from %d to %d", term, number)
	}
	b.feed.add(a.name, "x", time.Time{})
	b.entries++
	b.follower.event(t, 15*time.Second, "an entry after it", func(o object) bool { return o.str("title") == a.name })
	for _, p := range b.honest {
		b.serves(t, p, a.incomplete)
	}
	until(t, 15*time.Second, "sport served", func() bool {
		r := b.query(b.honest[0], "--theme", "sport")
		return r.code == 0 && len(r.entries()) == 2
	})
	for _, p := range b.network.peers {
		if mib := p.resident(t); mib > 250 {
			t.Errorf("%d MiB are resident", mib)
		}
		if log := p.errors(); strings.Contains(log, "panic") || strings.Contains(log, "goroutine ") {
			t.Errorf("it broke down: %s", tail(log))
		}
	}
}

// serves waits until p has every entry for a reader: the last one may be on its
// way still. Where the answer may be incomplete, only the member's feed is
// missing.
func (b *besieged) serves(t *testing.T, p *peer, incomplete bool) {
	t.Helper()
	var r result
	defer func() {
		if t.Failed() {
			t.Logf("the last answer at %s, with %d of %d entries: %v", p.id, len(r.entries()), b.entries, r.finals())
		}
	}()
	until(t, 30*time.Second, "every entry served", func() bool {
		r = b.query(p, "--theme", "news", "--limit", "200")
		if r.code != 0 && !(incomplete && namesMissing(r, "news/stranger")) || r.took > 5*time.Second || len(r.entries()) > b.entries {
			t.Fatalf("%d of %d entries in %s: %v", len(r.entries()), b.entries, r.took, r)
		}
		return len(r.entries()) == b.entries
	})
}

// namesMissing reports whether an answer is incomplete for one reason alone.
func namesMissing(r result, missing string) bool {
	return r.code == 4 && !slices.ContainsFunc(r.finals(), func(o object) bool { return fmt.Sprint(o.list("missing")) != "["+missing+"]" })
}

// reign waits until all honest peers follow one of them, each by its own view.
func (b *besieged) reign(t *testing.T) (manager string, term int) {
	t.Helper()
	until(t, 15*time.Second, "one honest manager", func() bool {
		for i, p := range b.honest {
			c := b.ownView(p, "news")
			if c == nil || i > 0 && (c.str("manager") != manager || c.num("term") != term) {
				return false
			}
			manager, term = c.str("manager"), c.num("term")
		}
		return slices.ContainsFunc(b.honest, func(p *peer) bool { return p.id == manager })
	})
	return manager, term
}

func (b *besieged) log() (bytes int) {
	for _, p := range b.network.peers {
		bytes += len(p.errors())
	}
	return bytes
}
