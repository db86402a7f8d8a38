package integration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/codec"
	"github.com/feedring/feedring/ring"
)

// groupRow is a well-sealed row of a group that sealer claims to manage.
func groupRow(t testing.TB, sealer *wire.Sealer, verifier *wire.Verifier, theme string, addrs ...string) *ring.Row {
	me := feedring.PeerInfo{ID: sealer.ID(), Addrs: addrs}
	row := ring.Row{Theme: feedring.Theme(theme), Group: feedring.Theme(theme).Group(), Version: 1, Acknowledged: true,
		Term: feedring.Term{Number: 1, Claimant: me.ID}, Manager: me, Peers: 3, Feeds: 9}
	frame, err := codec.Encode(sealer, ring.Rows{Rows: []*ring.Row{&row}})
	must(t, err)
	sealed, err := codec.Decode(verifier, ring.Rows{}.Verb(), body(frame))
	must(t, err)
	return sealed.(ring.Rows).Rows[0]
}

// TestGroupsWithoutAManager is a stranger that sends 11,000 rows of groups whose managers are
// keys that never connected. None of them is shown or asked, and a new group comes onto every
// map all the same.
func TestGroupsWithoutAManager(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "1s")
	p := n.peer(nil, "news=p@"+o.feed(newFeed("p", 3)))
	q := n.peer([]*peer{p}, "sport=q@"+o.feed(newFeed("q", 3)))
	want := map[string]int{"news": 1, "sport": 1}
	n.formed(want, p, q)
	before := n.query(p, "--timeout", "8s")
	const count = 11_000
	verifier := wire.NewVerifier("main")
	var rows []*ring.Row
	for i := range count {
		key, _, err := crypto.GenerateEd25519Key(nil)
		must(t, err)
		sealer, err := wire.NewSealer(key, "main")
		must(t, err)
		rows = append(rows, groupRow(t, sealer, verifier, fmt.Sprintf("made-up-%d", i), fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", 1+i%1000)))
	}
	s := newStranger(t, p)
	for part := range slices.Chunk(rows, 500) {
		for _, victim := range []*peer{p, q} {
			s.facing(victim).say(s.sealer, nil, ring.Rows{Rows: part})
		}
	}
	r := n.peer([]*peer{q}, "weather=r@"+o.feed(newFeed("r", 3)))
	want["weather"] = 1
	took := time.Now()
	n.formed(want, p, q, r)
	t.Logf("a new group is on all maps after %v", time.Since(took).Round(time.Millisecond))
	for _, publisher := range []*peer{p, q, r} {
		until(t, 20*time.Second, "the first look", func() bool { return publisher.entriesHeld(t) == 3 })
	}
	for _, victim := range []*peer{p, q, r} {
		shown := n.ring(victim)
		after := n.query(victim, "--timeout", "8s")
		t.Logf("%d rows of groups without a manager: %d groups shown; a query without a theme took %v, then %v, exit %d",
			count, len(shown), before.took.Round(time.Millisecond), after.took.Round(time.Millisecond), after.code)
		if len(shown) != 3 || after.code != 0 || len(after.entries()) != 9 {
			t.Errorf("after the attack: %d groups, %v", len(shown), after)
		}
	}
}

// TestGroupsOfOneKey is a stranger that answers as the manager of 1,000 groups. It gets 20
// places on a map.
func TestGroupsOfOneKey(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "1s", "--private-peers", "new")
	p := n.peer(nil, "news=p@"+o.feed(newFeed("p", 3)))
	q := n.peer([]*peer{p}, "sport=q@"+o.feed(newFeed("q", 3)))
	n.formed(map[string]int{"news": 1, "sport": 1}, p, q)
	s := newStrangerAt(t, p.byTCP(), "127.9.1.1")
	verifier := wire.NewVerifier("main")
	var rows []*ring.Row
	for i := range 1000 {
		rows = append(rows, groupRow(t, s.sealer, verifier, fmt.Sprintf("made-up-%d", i), s.lib.Addrs()[0].String()))
	}
	s.say(s.sealer, nil, ring.Rows{Rows: rows})
	until(t, 20*time.Second, "groups of the stranger", func() bool { return len(n.ring(p)) > 2 })
	until(t, 20*time.Second, "a new group beside them", func() bool {
		if len(n.peers) == 2 {
			n.peer([]*peer{p}, "weather=r@"+o.feed(newFeed("r", 3)))
		}
		return n.ring(p)["weather"] == 1 && n.ring(q)["weather"] == 1
	})
	got := len(n.ring(p)) - 3
	t.Logf("1,000 groups of one key: %d on the map", got)
	if got > 20 {
		t.Errorf("%d groups of one key are on the map", got)
	}
}
