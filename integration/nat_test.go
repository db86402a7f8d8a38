package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// servedBy asks for all of a provider's history and reports whether the
// publisher itself gave all of it. Since the date is older than freshness,
// nobody else may answer.
func servedBy(m *machine, publisher, via *peer, provider string, entries int) bool {
	r := m.feedring("query", "--json", "--theme", "news", "--provider", provider, "--since", "30d", "--timeout", "2s", "--peer", via.addr)
	for _, e := range r.entries() {
		if e.str("via") != publisher.id {
			return false
		}
	}
	return r.code == 0 && len(r.entries()) == entries
}

// row is what p's catalogue of news says of another peer.
func row(n *network, p, of *peer) object {
	for _, one := range n.ownView(p, "news").list("peers") {
		if o := object(one.(map[string]any)); o.str("peer") == of.id {
			return o
		}
	}
	return nil
}

func relayed(addr any) bool { return strings.Contains(addr.(string), "/p2p-circuit") }

// TestBehindNAT is a publisher at home: its router lets nobody in. Readers
// outside are served by it all the same, through a relay that no one set up,
// and by another relay once that one is gone.
func TestBehindNAT(t *testing.T) {
	t.Parallel()
	i := newInternet(t)
	n := newNetwork(t, "500ms")
	first, second, reader, home := i.public("first"), i.public("second"), i.public("reader"), i.behindRouter("home")
	relay := first.peer(n, nil, "news=first@"+first.origin().feed(newFeed("first", 4)))
	other := second.peer(n, []*peer{relay}, "news=second@"+second.origin().feed(newFeed("second", 4)))
	f := newFeed("home", 6)
	site := home.origin().feed(f)
	begun := time.Now()
	publisher := home.peer(n, []*peer{relay}, "news=home@"+site)

	until(t, 20*time.Second, "served by the publisher itself", func() bool {
		return servedBy(reader, publisher, other, "home", 6)
	})
	t.Logf("served %s after its start", time.Since(begun).Round(10*time.Millisecond))
	quic := func(m *machine, p *peer) string { return fmt.Sprintf("/ip4/%s/udp/7377/quic-v1/p2p/%s", m.addr, p.id) }
	if r := reader.feedring("catalog", "news", "--timeout", "3s", "--peer", quic(second, other)); r.code != 0 {
		t.Errorf("catalog of a public peer: %v", r)
	}
	if r := reader.feedring("catalog", "news", "--timeout", "3s", "--peer", quic(home, publisher)); r.code == 0 {
		t.Errorf("the router let somebody in: %v", r)
	}
	until(t, 10*time.Second, "addresses at relays in everybody's catalogue", func() bool {
		addrs := row(n, other, publisher).list("addrs")
		return len(addrs) > 0 && !slices.ContainsFunc(addrs, func(a any) bool { return !relayed(a) })
	})
	if r := command(t, "doctor", "--json", "--data", publisher.data); !strings.Contains(r.stdout, "behind a router, reached through relays") {
		t.Errorf("doctor at home: %v", r)
	}
	until(t, 20*time.Second, "a peer outside that polled it", func() bool {
		s := command(t, "status", "--json", "--data", other.data)
		return s.code == 0 && s.objects[0].num("entries") == 6+4+4
	})

	follower := reader.start("follow", "--json", "--theme", "news", "--provider", "home", "--since", "30d", "--peer", other.addr)
	follower.event(t, 10*time.Second, "an answer", func(o object) bool { return o.str("event") == "answered" })
	f.add("live from home", "x", time.Time{})
	e, _ := follower.event(t, 10*time.Second, "what is new", func(o object) bool { return o.str("title") == "live from home" })
	if e.str("via") != publisher.id {
		t.Errorf("served by another: %v", e)
	}

	relay.kill()
	until(t, 40*time.Second, "served through another relay", func() bool {
		return servedBy(reader, publisher, other, "home", 7)
	})
	if r := command(t, "doctor", "--data", other.data); !strings.Contains(r.stdout, "dialled back at") {
		t.Errorf("doctor of a public peer: %v", r)
	}
	for _, m := range []*machine{first, second, home} {
		if sent := m.multicasts(); sent != 0 {
			t.Errorf("%s asked everybody on its network, %d times, without --lan", m.space, sent)
		}
	}
}

// TestHolePunching is two publishers behind routers of their own that know one
// peer outside: they come to talk directly, as their routers see.
func TestHolePunching(t *testing.T) {
	t.Parallel()
	i := newInternet(t)
	n := newNetwork(t, "500ms")
	outside, reader := i.public("outside"), i.public("reader")
	homes := []*machine{i.behindRouter("east"), i.behindRouter("west")}
	relay := outside.peer(n, nil, "news=outside@"+outside.origin().feed(newFeed("outside", 1)))
	var publishers []*peer
	var feeds []*feed
	for k, m := range homes {
		f := newFeed(fmt.Sprintf("home%d", k), 3)
		feeds = append(feeds, f)
		publishers = append(publishers, m.peer(n, []*peer{relay}, "news="+f.name+"@"+m.origin().feed(f)))
	}
	together(n, append(publishers, relay)...)
	for k, p := range publishers {
		until(t, 20*time.Second, "served by the publisher itself", func() bool {
			return servedBy(reader, p, relay, fmt.Sprintf("home%d", k), 3)
		})
	}
	for _, f := range feeds {
		f.add("each tells the other", "x", time.Time{})
	}
	const some = 50 // more than an attempt is
	for k, m := range homes {
		until(t, 30*time.Second, "packets straight from the other home", func() bool { return m.letIn(homes[1-k]) > some })
	}
}

// TestFirstRelay is a public peer with nobody but homes around: it relays for
// the first of them, though nobody outside told it that it is public.
func TestFirstRelay(t *testing.T) {
	t.Parallel()
	i := newInternet(t)
	n := newNetwork(t, "500ms")
	outside, reader, home := i.public("outside"), i.public("reader"), i.behindRouter("home")
	relay := outside.peer(n, nil)
	publisher := home.peer(n, []*peer{relay}, "news=home@"+home.origin().feed(newFeed("home", 3)))
	until(t, 20*time.Second, "served by the publisher itself", func() bool {
		return servedBy(reader, publisher, relay, "home", 3)
	})
}
