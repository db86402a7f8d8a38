package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/codec"
)

// madeUp are well-sealed rows of keys that never connect.
func madeUp(t testing.TB, count int) (rows []*group.Row) {
	verifier := wire.NewVerifier("main")
	for i := range count {
		key, _, err := crypto.GenerateEd25519Key(nil)
		must(t, err)
		sealer, err := wire.NewSealer(key, "main")
		must(t, err)
		row := group.Row{
			Group: feedring.Theme("news").Group(), Peer: sealer.ID(), Incarnation: 1, Version: 1, Admitted: time.Now(), From: time.Now(),
			Feeds: []feedring.Feed{{URL: fmt.Sprintf("http://127.0.0.1/made-up/%d", i), Provider: "made-up"}},
		}
		frame, err := codec.Encode(sealer, group.Rows{Header: group.Header{Group: row.Group}, Rows: []*group.Row{&row}})
		must(t, err)
		sealed, err := codec.Decode(verifier, group.Rows{}.Verb(), body(frame))
		must(t, err)
		rows = append(rows, sealed.(group.Rows).Rows[0])
	}
	return rows
}

// body is a frame without its length.
func body(frame []byte) []byte {
	i := slices.IndexFunc(frame, func(b byte) bool { return b < 0x80 })
	return frame[i+1:]
}

// admitted counts the peers of news by p's own view, those that are away included.
func (n *network) admitted(p *peer) int {
	c := n.ownView(p, "news")
	if c == nil {
		return 0
	}
	return len(c.list("peers"))
}

// admittedMember has a stranger admitted to the group of news, and waits until all its
// peers, honest, know that.
func (n *network) admittedMember(honest ...*peer) *member {
	n.t.Helper()
	m := newMember(n.t, n.manager("news", honest...))
	until(n.t, 20*time.Second, "the stranger admitted", func() bool {
		return !slices.ContainsFunc(honest, func(p *peer) bool { return n.admitted(p) != len(honest)+1 })
	})
	m.hears(1)
	return m
}

// newPair is a network with two peers of news, which take strangers' addresses for what they are.
// Each holds all six entries when it returns.
func newPair(t *testing.T, refresh string) (o *origin, n *network, p, q *peer) {
	t.Helper()
	o, n = newOrigin(t), newNetwork(t, refresh, "--private-peers", "new")
	p = n.peer(nil, "news=p@"+o.feed(newFeed("p", 3)))
	q = n.peer([]*peer{p}, "news=q@"+o.feed(newFeed("q", 3)))
	n.formed(map[string]int{"news": 2}, p, q)
	for _, one := range []*peer{p, q} {
		until(t, 20*time.Second, "a pair with six entries each", func() bool {
			r := command(t, "status", "--json", "--data", one.data)
			return r.code == 0 && len(r.objects) == 1 && r.objects[0].num("entries") == 6
		})
	}
	return o, n, p, q
}

// newTrio is newPair with a peer of sport.
func newTrio(t *testing.T, refresh string) (n *network, p, q, s *peer) {
	t.Helper()
	o, n, p, q := newPair(t, refresh)
	s = n.peer([]*peer{p, q}, "sport=s@"+o.feed(newFeed("s", 3)))
	n.formed(map[string]int{"news": 2, "sport": 1}, p, q, s)
	return n, p, q, s
}

// TestRowsOfPeersThatNeverConnected is a member that answers beacons and sends 10,500 rows of
// keys that never connected to each honest peer, then their joins: none enters a catalogue,
// and a newcomer is admitted.
func TestRowsOfPeersThatNeverConnected(t *testing.T) {
	t.Parallel()
	o, n, p, q := newPair(t, "1s")
	m := n.admittedMember(p, q)
	const count = 10_500
	term, _, _ := m.now()
	rows, h := madeUp(t, count), group.Header{Group: m.group, Term: term}
	for _, victim := range []*peer{p, q} {
		to := m.facing(victim)
		for part := range slices.Chunk(rows, 500) {
			to.say(m.sealer, nil, group.Rows{Header: h, Rows: part})
		}
		for _, r := range rows[:500] {
			to.say(m.sealer, nil, group.Join{Header: h, Row: *r})
		}
	}
	m.hears(6) // two periods
	s := n.peer([]*peer{q}, "news=s@"+o.feed(newFeed("s", 3)))
	until(t, 20*time.Second, "a newcomer admitted", func() bool { return n.admitted(p) == 4 && n.admitted(q) == 4 && n.admitted(s) == 4 })
	for _, victim := range []*peer{p, q} {
		if r := n.query(victim, "--theme", "news", "--provider", "p"); r.code != 0 || len(r.entries()) != 3 {
			t.Errorf("after the attack: %v", r)
		}
		mib := victim.resident(t)
		t.Logf("%d rows of keys that never connected: %d peers in the catalogue, %d MiB resident", count, n.admitted(victim), mib)
		if mib > 160 {
			t.Errorf("%d MiB are resident", mib)
		}
	}
}

// TestManyKeysOfOnePrefix has a thousand keys of one /24 join a group, each of which answers as
// a member does. At most eight get a place, and a peer of another prefix gets one.
func TestManyKeysOfOnePrefix(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "1s", "--private-peers", "new")
	p := n.peer(nil, "news=p@"+o.feed(newFeed("p", 3)))
	n.formed(map[string]int{"news": 1}, p)
	const keys, atOnce = 1000, 32
	var there []*stranger
	for range keys {
		if len(there) == atOnce { // the first ones hold the places
			_ = there[atOnce/2].lib.Close()
			there = slices.Delete(there, atOnce/2, atOnce/2+1)
		}
		s := newStrangerAt(t, p.byTCP(), "127.9.1.1")
		s.joins()
		there = append(there, s)
	}
	until(t, 20*time.Second, "places taken", func() bool { return n.admitted(p) >= 1+8 })
	s := newStrangerAt(t, p.byTCP(), "127.9.2.1")
	s.joins()
	until(t, 20*time.Second, "a peer of another prefix admitted", func() bool {
		return strings.Contains(fmt.Sprint(n.ownView(p, "news")), string(s.sealer.ID()))
	})
	got := n.admitted(p) - 2
	t.Logf("%d keys of one /24: %d in the catalogue", keys, got)
	if got > 8 {
		t.Errorf("%d keys of one /24 have a place", got)
	}
}

// byTCP is the address of p that others reach from any address of this machine.
func (p *peer) byTCP() string {
	return p.addrs[slices.IndexFunc(p.addrs, func(a string) bool { return strings.Contains(a, "/tcp/") })]
}

// joins asks for admission and answers it, as a member does.
func (s *stranger) joins() {
	m := &member{stranger: s, group: feedring.Theme("news").Group(), row: s.row(), rows: make(map[feedring.PeerID]group.Row)}
	m.serve()
	m.row.From = time.Now()
	s.say(s.sealer, nil, group.Join{Header: group.Header{Group: m.group}, Row: m.row})
}
