package group

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/standing"
)

// usurpers are admitted members whose own machines are stopped, and that claim instead.
type usurpers struct {
	*cluster
	t      *testing.T
	honest []feedring.PeerID
	keys   []feedring.PeerID
	lead   feedring.PeerID // before they claimed
	term   feedring.Term
}

// usurped makes a group of so many honest peers and of hostile keys, none of which manages it.
func usurped(t *testing.T, honest, keys int, prefix func(i int) standing.Prefix) *usurpers {
	t.Helper()
	u := &usurpers{cluster: newCluster(1), t: t}
	for i := range honest + keys {
		id := feedring.PeerID(fmt.Sprintf("p%02d", i))
		n := u.start(id, "https://"+string(id)+".example/rss")
		n.prefix = prefix(i)
		if i == 0 {
			u.step(n, Establish{})
		} else {
			u.step(n, Enter{Via: []feedring.PeerID{"p00"}})
		}
		if i < honest {
			u.honest = append(u.honest, id)
		} else {
			u.keys = append(u.keys, id)
		}
		u.run(20 * time.Millisecond)
	}
	u.run(3 * time.Second)
	u.lead = u.nodes["p00"].m.manager()
	u.term = u.nodes["p00"].m.lead.claim.Term
	for _, id := range u.keys {
		u.crash(id)
	}
	if u.lead != "p00" {
		t.Fatalf("%s manages", u.lead)
	}
	return u
}

// say has a key send to all honest peers.
func (u *usurpers) say(by feedring.PeerID, of func(h Header, c Claim) Message, number uint64) {
	h := Header{Group: testTheme.Group(), Term: feedring.Term{Number: number, Claimant: by}}
	for _, to := range u.honest {
		u.later(u.nodes[to], time.Millisecond, Receive{From: by, Prefix: u.nodes[by].prefix, Message: seal(by, of(h, Claim{Group: h.Group, Term: h.Term}))})
	}
}

func beaconOf(secondary feedring.PeerID) func(h Header, c Claim) Message {
	return func(h Header, c Claim) Message {
		return Beacon{Header: h, Claim: c, Number: 1 << 40, Secondary: secondary, Acknowledged: 1000}
	}
}

// led is how much of the last time the honest peers followed one of the keys, summed up.
func (u *usurpers) led(tenths int, each func(number uint64)) (sum time.Duration) {
	for range tenths {
		highest := uint64(0)
		for _, id := range u.honest {
			highest = max(highest, u.nodes[id].m.lead.claim.Term.Number)
		}
		each(highest + 1)
		u.run(100 * time.Millisecond)
		for _, id := range u.honest {
			for _, k := range u.keys {
				if u.nodes[id].m.manager() == k {
					sum += 100 * time.Millisecond
				}
			}
		}
	}
	return sum
}

func noPrefix(int) standing.Prefix { return "" }

// One admitted key says again and again, in every message that carries a claim, that its higher claim
// is acknowledged. Nobody follows it, and the manager claims above it, once in a period.
func TestAcknowledgedByItsOwnWord(t *testing.T) {
	for _, honest := range []int{2, 3, 5} {
		u := usurped(t, honest, 1, noPrefix)
		by := u.keys[0]
		claims := []func(h Header, c Claim) Message{
			beaconOf(by),
			func(h Header, c Claim) Message { return Confirmation{Header: h, Claim: c, Secondary: by} },
			func(h Header, c Claim) Message { return Refresh{Header: h, Claim: c, Version: 1 << 40} },
			func(h Header, c Claim) Message { return Stale{Header: h, Claim: c, Acknowledged: true} },
			func(h Header, c Claim) Message { return Objection{Header: h, Nonce: 1, Claim: &c} },
			func(h Header, c Claim) Message {
				return Admitted{Header: h, Claim: c, Secondary: by, Admitted: testStart}
			},
		}
		led := u.led(100, func(number uint64) {
			for _, of := range claims {
				u.say(by, of, number)
			}
		})
		if led > 0 {
			t.Errorf("%d honest: they followed it for %s in 10s", honest, led)
		}
		if lead := u.nodes[u.lead].m.lead; !lead.serving || lead.claim.Term.Number > u.term.Number+2*11 {
			t.Errorf("%d honest: the manager of %v has %v", honest, u.term, lead.claim.Term)
		}
		u.run(2 * time.Second)
		for _, id := range u.honest {
			if m := u.nodes[id].m; m.manager() != u.lead || m.lead.claim.Term.Number < m.seen {
				t.Errorf("%d honest: %s follows %v, and %d was claimed", honest, id, m.lead.claim.Term, m.seen)
			}
		}
	}
}

// Keys that support one another lead nobody while the honest have more prefixes.
func TestFewerPrefixesDoNotLead(t *testing.T) {
	for _, test := range []struct {
		prefixes int // of eight keys
		leads    bool
	}{{1, false}, {3, false}, {8, true}} {
		u := usurped(t, 6, 8, func(i int) standing.Prefix {
			if i < 6 {
				return standing.Prefix(fmt.Sprintf("192.0.%d.0/24", i))
			}
			return standing.Prefix(fmt.Sprintf("198.51.%d.0/24", i%test.prefixes))
		})
		by := u.keys[0]
		led := u.led(60, func(number uint64) {
			u.say(by, beaconOf(by), number)
			for _, k := range u.keys[1:] {
				u.say(k, func(h Header, c Claim) Message {
					h.Term.Claimant, c.Term.Claimant, c.Seal = by, by, &feedring.Seal{Signer: by}
					return Stale{Header: h, Claim: c, Acknowledged: true}
				}, number)
			}
		})
		if (led > 0) != test.leads {
			t.Errorf("%d prefixes: they led for %s", test.prefixes, led)
		}
	}
}

// A manager that claims anew because of such a key keeps its secondary and what it knows of its members:
// one that crashes is missed as soon as ever.
func TestClaimedAnewKeepsWhatItKnows(t *testing.T) {
	u := usurped(t, 4, 1, noPrefix)
	manager := func() *Machine { return u.nodes[u.lead].m }
	claim := func(number uint64) { u.say(u.keys[0], beaconOf(u.keys[0]), number) }
	kept := manager().lead.secondary
	u.led(50, func(number uint64) {
		claim(number)
		if now := manager().lead.secondary; now != kept {
			t.Fatalf("%q is secondary instead of %s", now, kept)
		}
	})
	u.crash(kept)
	u.led(25, claim)
	if now := manager().lead.secondary; now == kept || now == "" || !manager().members[kept].away {
		t.Errorf("%s crashed, and %q is secondary", kept, now)
	}
}

// Two managers of one theme that know none of each other's members ask those who they follow. Whichever
// has the higher number, the one that more follow stays, and all follow it.
func TestTwoFoundingsMerge(t *testing.T) {
	for _, test := range []struct {
		a, b  int // peers of each
		above uint64
		far   bool // all connect from a network of their own
		stays feedring.PeerID
	}{
		{1, 1, 0, false, "b00"}, {2, 5, 0, false, "b00"}, {5, 2, 0, false, "a00"}, {2, 5, 9, false, "b00"},
		{3, 3, 9, true, "a00"}, {6, 3, 0, true, "a00"}, {40, 34, 0, false, "b00"}, {34, 40, 9, true, "a00"},
	} {
		name := fmt.Sprintf("%+v", test)
		c := newCluster(1)
		found := func(side string, n int, above uint64) {
			for i := range n {
				id := feedring.PeerID(fmt.Sprintf("%s%02d", side, i))
				node := c.start(id)
				if test.far {
					node.prefix = standing.Prefix(fmt.Sprintf("192.%s.%d.0/24", side, i))
				}
				if i == 0 {
					c.step(node, Establish{Above: above})
				} else {
					c.step(node, Enter{Via: []feedring.PeerID{feedring.PeerID(side + "00")}})
				}
				c.run(200 * time.Millisecond)
			}
		}
		found("a", test.a, test.above)
		found("b", test.b, 0)
		c.run(5 * time.Second)
		// The ring's map shows the higher claim of the two, at each look.
		asks := 0
		c.sent = func(s Send) {
			if s.Message.Verb() == "beacon" && s.Fresh {
				asks++
			}
		}
		for range 8 {
			for _, pair := range [][2]feedring.PeerID{{"a00", "b00"}, {"b00", "a00"}} {
				if m := c.nodes[pair[1]].m; m.lead.serving {
					c.step(c.nodes[pair[0]], Rival{Term: m.lead.claim.Term, Acknowledged: m.accepted(), Peers: []feedring.PeerID{pair[1], m.lead.secondary}})
				}
			}
			c.run(500 * time.Millisecond)
		}
		if asks > 64*4*2 {
			t.Errorf("%s: %d were asked in 4s", name, asks)
		}
		if lead, err := c.leader(); err != nil || lead != test.stays {
			t.Errorf("%s: %s stays: %v", name, lead, err)
		}
	}
}

// What members said before counts while they cannot yet have answered a new claim.
func TestClaimedAnewKeepsItsSupport(t *testing.T) {
	u := usurped(t, 4, 1, noPrefix)
	m, by := u.nodes[u.lead].m, u.keys[0]
	above := feedring.Term{Number: u.term.Number + 1, Claimant: by}
	m.Step(u.now, Receive{From: by, Message: Join{Header: Header{Group: m.group, Term: above}, Row: *m.members[by].row}})
	m.Step(u.now, Persisted{Token: m.token})
	if !m.lead.serving || m.lead.acked || m.lead.claim.Term.Compare(above) <= 0 {
		t.Fatalf("it manages under %v, acknowledged %v", m.lead.claim.Term, m.lead.acked)
	}
	above.Number = m.lead.claim.Term.Number + 1
	h := Header{Group: m.group, Term: above}
	m.Step(u.now, Receive{From: by, Message: seal(by, beaconOf(by)(h, Claim{Group: m.group, Term: above}))})
	if m.Step(u.now, Persisted{Token: m.token}); !m.lead.serving {
		t.Errorf("it follows %v", m.lead.claim.Term)
	}
}

// What a key tells the manager alone of far higher numbers does not make it claim one that nobody else
// believes: all follow it all the time.
func TestNumbersToldToTheManagerAlone(t *testing.T) {
	for _, joins := range []bool{false, true} {
		u := usurped(t, 4, 1, noPrefix)
		by := u.keys[0]
		for i := range 200 {
			if lead := u.nodes[u.lead].m; i%10 == 0 && lead.lead.serving {
				for j := range uint64(4) {
					h := Header{Group: lead.group, Term: feedring.Term{Number: max(lead.seen, lead.want.Highest) + 1<<20, Claimant: by}}
					var msg Message = seal(by, beaconOf(by)(h, Claim{Group: h.Group, Term: h.Term}))
					if joins {
						h.Term.Number += j << 20
						msg = Join{Header: h, Row: *lead.members[by].row}
					}
					u.step(u.nodes[u.lead], Receive{From: by, Message: msg})
				}
			}
			u.run(100 * time.Millisecond)
			for _, id := range u.honest {
				if m := u.nodes[id].m; m.manager() != u.lead {
					t.Fatalf("after %d looks %s follows %v", i, id, m.lead.claim.Term)
				}
			}
		}
		if n := u.nodes[u.lead].m.lead.claim.Term.Number; n < 10*maxJump {
			t.Errorf("joins %t: %d was claimed", joins, n)
		}
	}
}
