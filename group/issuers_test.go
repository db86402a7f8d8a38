package group

import (
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// A ticket is taken from whoever held the role, under whatever term, and from
// no other peer of the catalogue.
func TestTicketsOfThoseWhoManaged(t *testing.T) {
	c := newCluster(14)
	ids := c.group(5)
	first, err := c.leader()
	if err != nil {
		t.Fatal(err)
	}
	second := c.nodes[first].m.View().Secondary
	var rest []feedring.PeerID
	for _, id := range ids {
		if id != first && id != second {
			rest = append(rest, id)
		}
	}
	at, mere := rest[0], rest[2]
	takes := func(signer feedring.PeerID) bool {
		n := c.nodes[at]
		refused := len(n.refused)
		c.streams++
		c.step(n, Attach{Stream: c.streams, Ticket: feedring.Ticket{
			ID: feedring.QueryID{byte(c.streams)}, Group: testTheme.Group(), Client: "reader", Peers: []feedring.PeerID{at},
			Expiry: c.now.Add(time.Hour), Seal: &feedring.Seal{Signer: signer},
		}})
		return len(n.refused) == refused
	}
	expect := func(when string, want map[feedring.PeerID]bool) {
		t.Helper()
		for _, id := range slices.Sorted(slices.Values(ids)) {
			if got, ok := takes(id), want[id]; got != ok && id != at && (ok || id == mere) {
				t.Errorf("%s, a ticket of %s: taken %v", when, id, got)
			}
		}
	}
	expect("at first", map[feedring.PeerID]bool{first: true, second: true})
	c.step(c.nodes[first], Depart{}) // leaves a tombstone
	c.run(5 * time.Second)
	expect("after it left", map[feedring.PeerID]bool{first: true, second: true})
	if lead, err := c.leader(); err != nil || lead != second {
		t.Fatal(lead, err)
	}
	c.crash(at)
	c.start(at)
	c.step(c.nodes[at], Enter{Via: []feedring.PeerID{second}})
	c.run(5 * time.Second)
	expect("after a restart", map[feedring.PeerID]bool{second: true})
}
