package group

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// In a large group beacons and notifies travel over a mesh: nobody
// sends to everybody, and everybody has everything all the same.
func TestLargeGroup(t *testing.T) {
	c := newCluster(5)
	ids := c.group(120)
	c.run(5 * time.Second)
	if _, err := c.leader(); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		m := c.nodes[id].m
		if n := len(m.neighbours()); n < 8 || n > 10 || !m.large() {
			t.Fatalf("%s has %d neighbours of %d", id, n, len(m.present()))
		}
		for _, p := range m.neighbours() {
			if !containsPeer(c.nodes[p].m.neighbours(), id) {
				t.Errorf("%s is no neighbour of its neighbour %s", id, p)
			}
		}
	}
	polls := map[feedring.PeerID]int{}
	notifies := 0
	c.loss = func(from, to feedring.PeerID, m Message) bool {
		if _, ok := m.(Notify); ok {
			notifies++
		}
		return false
	}
	ref := feedring.FeedRef{URL: c.nodes[ids[7]].feeds[0].URL, Publisher: ids[7]}
	c.polled = func(of feedring.PeerID) { polls[of]++ }
	c.publish(ids[7], ref.URL)
	c.run(500 * time.Millisecond)
	for _, id := range ids {
		if h := c.nodes[id].m.replicator.Heads[ref]; h == nil || h.Pos.Sequence != 1 {
			t.Errorf("%s lacks the entry", id)
		}
	}
	if polls[ids[7]] > 12 || notifies > 10*len(ids) {
		t.Errorf("the publisher was polled %d times, %d notifies", polls[ids[7]], notifies)
	}
	c.crash(ids[0])
	c.run(4 * time.Second)
	if _, err := c.leader(); err != nil {
		t.Error(err)
	}
}

func containsPeer(peers []feedring.PeerID, p feedring.PeerID) bool {
	for _, q := range peers {
		if q == p {
			return true
		}
	}
	return false
}

// Half of all notifies are lost: everybody has every entry within two periods.
func TestHalfOfNotifiesLost(t *testing.T) {
	c := newCluster(6)
	ids := c.group(10)
	c.loss = func(from, to feedring.PeerID, m Message) bool {
		_, ok := m.(Notify)
		return ok && c.rng.IntN(2) == 0
	}
	for range 60 {
		id := ids[c.rng.IntN(len(ids))]
		c.publish(id, c.nodes[id].feeds[0].URL)
		c.run(time.Duration(c.rng.IntN(100)) * time.Millisecond)
	}
	c.run(2 * time.Second)
	if err := c.sameHeads(); err != nil {
		t.Error(err)
	}
}

// A thousand clients over ten peers, one after the other and all at once.
func TestBalance(t *testing.T) {
	for _, gap := range []time.Duration{0, 5 * time.Millisecond} {
		c := newCluster(9)
		ids := c.group(10)
		c.run(2 * time.Second)
		for i := range 1000 {
			q := Place{Header: Header{Group: testTheme.Group()}, ID: feedring.QueryID{byte(i), byte(i >> 8)}, Client: "reader", Within: time.Second}
			c.step(c.nodes[ids[0]], Receive{From: "client", Message: q})
			c.run(gap)
			c.attachAll()
		}
		c.run(200 * time.Millisecond)
		c.attachAll()
		for _, id := range ids {
			if n := c.nodes[id].m.placer.Leases(); n < 90 || n > 110 {
				t.Errorf("gap %s: %s serves %d of 1000", gap, id, n)
			}
		}
		c.run(3 * time.Second)
		for _, mem := range c.nodes[ids[0]].m.View().Members {
			if n := c.nodes[mem.Row.Peer].m.placer.Leases(); mem.Leases != n {
				t.Errorf("L5: %s is told to serve %d, not %d", mem.Row.Peer, mem.Leases, n)
			}
		}
	}
}

func (c *cluster) attachAll() {
	for _, p := range c.placed {
		for _, g := range p.Grants {
			c.streams++
			c.step(c.nodes[g.Provider.ID], Attach{Stream: c.streams, Ticket: g.Ticket})
		}
	}
	c.placed = nil
}

// S3: a manager that one prober reaches is not deposed, however long the
// secondary does not hear it.
func TestReachableManagerStays(t *testing.T) {
	c := newCluster(12)
	ids := c.group(4)
	lead := ids[0]
	c.loss = func(from, to feedring.PeerID, m Message) bool {
		_, beacon := m.(Beacon)
		_, refresh := m.(Refresh)
		return from == lead && to != ids[3] && (beacon || refresh)
	}
	for range 300 {
		c.run(100 * time.Millisecond)
		if !c.nodes[lead].m.lead.serving {
			t.Fatalf("deposed after %s", c.now.Sub(testStart))
		}
	}
}

func TestTicketRules(t *testing.T) {
	c := newCluster(13)
	ids := c.group(3)
	n := c.nodes[ids[1]]
	good := feedring.Ticket{ID: feedring.QueryID{1}, Group: testTheme.Group(), Client: "reader", Peers: ids[:2], Expiry: c.now.Add(time.Minute), Seal: &feedring.Seal{Signer: ids[0]}}
	for _, tc := range []struct {
		name   string
		change func(*feedring.Ticket)
		ok     bool
	}{
		{"good", func(*feedring.Ticket) {}, true},
		{"of another group", func(t *feedring.Ticket) { t.Group = feedring.GroupID{} }, false},
		{"expired", func(t *feedring.Ticket) { t.Expiry = c.now }, false},
		{"for others", func(t *feedring.Ticket) { t.Peers = ids[2:] }, false},
		{"of a stranger", func(t *feedring.Ticket) { t.Seal = &feedring.Seal{Signer: "stranger"} }, false},
	} {
		ticket := good
		ticket.ID = feedring.QueryID{byte(len(tc.name))}
		tc.change(&ticket)
		c.streams++
		refused := len(n.refused)
		c.step(n, Attach{Stream: c.streams, Ticket: ticket})
		if ok := len(n.refused) == refused; ok != tc.ok {
			t.Errorf("a ticket %s: admitted %v", tc.name, ok)
		}
	}
	before := n.m.placer.Leases()
	c.step(n, assignFor(good))
	c.step(n, Attach{Stream: 100, Ticket: good})
	c.step(n, Attach{Stream: 101, Ticket: good})
	if n.m.placer.Leases() != before+1 || len(n.refused) == 0 || n.admitted[len(n.admitted)-1] != 101 {
		t.Error("the old stream of a query was not replaced")
	}
	c.step(n, Detach{Stream: 100})
	c.step(n, Detach{Stream: 101})
	if n.m.placer.Leases() != before {
		t.Error("the lease did not end")
	}
	c.run(3 * time.Second)
	if n.m.placer.Load() > n.m.placer.Leases() {
		t.Error("a place was kept for ever")
	}
}

func assignFor(t feedring.Ticket) Input {
	return Receive{From: "p00", Message: Assign{Header: Header{Group: t.Group, Term: feedring.Term{Number: 1, Claimant: "p00"}}, ID: t.ID, Client: t.Client}}
}
