package integration

import (
	"slices"
	"testing"
	"time"

	libnet "github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/codec"
	"github.com/feedring/feedring/ring"
)

// taker is a stranger that says that it manages news, and grants itself to everybody who asks.
// As a provider it has nothing.
type taker struct {
	*stranger
	verifier *wire.Verifier
}

func newTaker(s *stranger) *taker {
	k := &taker{s, wire.NewVerifier("main")}
	for _, verb := range codec.Verbs() {
		k.lib.SetStreamHandler(wire.ProtocolID("main", verb), func(stream libnet.Stream) { k.listen(verb, stream) })
	}
	k.lib.SetStreamHandler(wire.ProtocolID("main", wire.VerbAttach), func(stream libnet.Stream) {
		defer stream.Close()
		s := wire.NewStream(stream)
		if _, err := s.ReceiveFrame(10 * time.Second); err == nil {
			_ = s.Send(wire.CaughtTo(0, false), time.Second)
			_, _ = s.ReceiveFrame(10 * time.Second) // until the other side goes
		}
	})
	return k
}

func (k *taker) listen(verb feedring.Verb, stream libnet.Stream) {
	defer stream.Close()
	for s := wire.NewStream(stream); ; {
		frame, err := s.ReceiveFrame(0)
		if err != nil {
			return
		}
		message, err := codec.Decode(k.verifier, verb, frame)
		place, is := message.(group.Place)
		if err != nil || !is {
			continue
		}
		me := k.sealer.ID()
		ticket := feedring.Ticket{ID: place.ID, Attempt: place.Attempt, Group: place.Group, Client: place.Client, Peers: []feedring.PeerID{me}, Expiry: time.Now().Add(time.Minute)}
		ticket.Seal = k.sealer.Ticket(ticket)
		grant := feedring.Grant{Theme: "news", Provider: feedring.PeerInfo{ID: me, Addrs: k.addrs()}, Ticket: ticket}
		k.say(k.sealer, nil, group.Placed{Header: place.Header, ID: place.ID, Attempt: place.Attempt, Served: true, Grants: []feedring.Grant{grant}})
	}
}

func (k *taker) addrs() (addrs []string) {
	for _, a := range k.lib.Addrs() {
		addrs = append(addrs, a.String())
	}
	return addrs
}

// claims says to its victim that it manages news, with a number above all others.
func (k *taker) claims(number uint64) {
	me := feedring.PeerInfo{ID: k.sealer.ID(), Addrs: k.addrs()}
	row := ring.Row{Theme: "news", Group: feedring.Theme("news").Group(), Version: 1, Acknowledged: true,
		Term: feedring.Term{Number: number, Claimant: me.ID}, Manager: me, Peers: 1000, Feeds: 1000}
	k.say(k.sealer, nil, ring.Rows{Rows: []*ring.Row{&row}})
}

// TestStrangerTakesATheme has a stranger tell a peer of another theme again and again that it
// manages news, with a higher number each time. It answers as a manager does, and grants itself.
// The manager that was displaced on the map is asked as well, so no reader is given nothing.
func TestStrangerTakesATheme(t *testing.T) {
	t.Parallel()
	n, p, q, s := newTrio(t, "2s")
	manager := n.manager("news", p, q)
	k := newTaker(newStrangerAt(t, s.byTCP(), "127.9.1.1"))
	me := string(k.sealer.ID())

	taken, empty, failed, asked := 0, 0, 0, 0
	for range 40 {
		number := uint64(n.ownView(manager, "news").num("term"))
		for _, row := range command(t, "ring", "--json", "--peer", s.addr).objects {
			if row.str("theme") == "news" {
				number = max(number, uint64(row.num("term")))
				if row.str("manager") == me {
					taken++
				}
			}
		}
		k.claims(number + 1)
		r := n.query(s, "--theme", "news")
		asked++
		switch got := len(r.entries()); {
		case r.code == 0 && got == 6:
		case got == 0:
			empty++
		default:
			failed++
		}
	}
	t.Logf("a stranger led news on the map in %d of %d looks; of %d queries %d got nothing, %d less than all", taken, asked, asked, empty, failed)
	if taken == 0 {
		t.Error("the stranger's claims were not heard")
	}
	if empty+failed > 0 {
		t.Errorf("of %d queries %d got nothing, and %d less than all", asked, empty, failed)
	}
	if !slices.Contains([]string{p.id, q.id}, n.ownView(manager, "news").str("manager")) {
		t.Error("the group follows the stranger")
	}
}
