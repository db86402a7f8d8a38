package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// trusts adds --trust to a peer that is not started.
func (p *peer) trusts(who ...string) {
	for _, w := range who {
		p.args = append(p.args, "--trust", w)
	}
}

// TestTrustedKeyAmongManyOfOnePrefix has keys of one /24 hold all its places. Of two honest peers
// from there the manager admits the one that its owner trusts by hand.
func TestTrustedKeyAmongManyOfOnePrefix(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "1s", "--private-peers", "new")
	friend := n.peer(nil, "news=friend@"+o.feed(newFeed("friend", 3)))
	friend.stop(t, 10*time.Second)
	p := n.prepare(nil, "news=p@"+o.feed(newFeed("p", 3)))
	p.trusts(friend.id)
	n.start(p)
	n.formed(map[string]int{"news": 1}, p)
	for range 12 {
		newStrangerAt(t, p.byTCP(), "127.0.0.9").joins()
	}
	until(t, 20*time.Second, "places taken", func() bool { return n.admitted(p) == 1+8 })
	other := n.peer([]*peer{p}, "news=other@"+o.feed(newFeed("other", 3)))
	friend.args = append(friend.args, "--join", p.addr)
	n.start(friend)
	in := func(q *peer) bool { return strings.Contains(fmt.Sprint(n.ownView(p, "news")), q.id) }
	until(t, 20*time.Second, "the trusted peer admitted", func() bool { return in(friend) })
	until(t, 20*time.Second, "its entries", func() bool { return len(n.query(p, "--theme", "news", "--provider", "friend").entries()) == 3 })
	if got := n.admitted(p); got != 1+8+1 || in(other) {
		t.Errorf("%d peers are in the catalogue, the one that nobody trusts among them: %t", got, in(other))
	}
}

// TestTrustedKeyFillsItsQuota is a new peer that publishes 12 MB within an hour: who trusts it by
// hand keeps all of it, and who does not 10 MB.
func TestTrustedKeyFillsItsQuota(t *testing.T) {
	t.Parallel()
	const feeds, stories, size = 2, 600, 10 << 10
	o := newOrigin(t)
	n := newNetwork(t, "1s", "--private-peers", "new")
	text, args := strings.Repeat("ten bytes ", size/10), []string{}
	for i := range feeds {
		f := newFeed(fmt.Sprintf("flood%d", i), 0)
		f.whole = true
		for k := range stories {
			f.add(fmt.Sprintf("flood%d story%d", i, k), text, time.Now().Add(-time.Duration(stories-k)*time.Second))
		}
		args = append(args, "news=flood@"+o.feed(f))
	}
	s := n.peer(nil, args...)
	until(t, 60*time.Second, "everything at the publisher", func() bool { return held(t, s) >= feeds*stories })
	p := n.prepare([]*peer{s}, "news=p@"+o.feed(newFeed("p", 3)))
	p.trusts(s.id)
	n.start(p)
	q := n.peer([]*peer{s}, "news=q@"+o.feed(newFeed("q", 3)))
	until(t, 60*time.Second, "everything at the peer that trusts it", func() bool { return held(t, p) >= feeds*stories+6 })
	until(t, 60*time.Second, "a poll that is refused", func() bool { return q.refused(t, "disk", "share") > 0 })
	if got, most := held(t, q), (10<<20)/size+6; got > most {
		t.Errorf("%d entries are kept by the other, want at most %d", got, most)
	}
}

// trustedPeers are those for which a site that p trusts by hand vouches, as p's status has it.
func trustedPeers(t testing.TB, p *peer, site string) (peers []string) {
	t.Helper()
	r := command(t, "status", "--json", "--data", p.data)
	if r.code != 0 || len(r.objects) != 1 {
		t.Fatalf("status: %v", r)
	}
	for _, of := range r.objects[0].list("trusted") {
		if of := object(of.(map[string]any)); of.str("trust") == site {
			for _, id := range of.list("peers") {
				peers = append(peers, id.(string))
			}
		}
	}
	return peers
}
