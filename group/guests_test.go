package group

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

func queryID(n int) (id feedring.QueryID) {
	binary.BigEndian.PutUint32(id[:], uint32(n))
	return id
}

// One client has a share of a peer, in places as in leases; what it is refused
// others are given.
func TestRoomOfOneClient(t *testing.T) {
	r := newGuests()
	for i := range maxLeases {
		if _, ok := r.keep(queryID(i), kept{client: "greedy", by: "m"}); !ok {
			t.Fatalf("place %d was refused: its ticket would be good without", i)
		}
	}
	if got := r.load(); got != maxOfClient {
		t.Errorf("%d places are kept for one client", got)
	}
	served := 0
	for i := range maxLeases {
		if r.refusal(queryID(i), "greedy") == "" {
			r.unkeep(queryID(i))
			r.lease(uint64(i), queryID(i), "greedy")
			served++
		}
	}
	if served != maxOfClient || r.load() != served {
		t.Errorf("one client has %d leases of a load of %d", served, r.load())
	}
	for i := range 1000 {
		if why := r.refusal(queryID(1<<20+i), "modest"); why != "" {
			t.Fatal("another client is refused: ", why)
		}
		r.lease(uint64(1<<20+i), queryID(1<<20+i), "modest")
	}
	for i := range maxLeases {
		r.release(uint64(i))
	}
	if r.load() != 1000 || r.leasesOf["greedy"] != 0 || len(r.keptOf)+len(r.keptFor) != 0 {
		t.Errorf("a load of %d is left, %v, %v, %v", r.load(), r.leasesOf, r.keptOf, r.keptFor)
	}
}

// A member that is no manager has few places kept, whatever it calls their
// clients, and they lapse.
func TestPlacesOnAMembersWord(t *testing.T) {
	c := newCluster(5)
	ids := c.group(4)
	manager, err := c.leader()
	if err != nil {
		t.Fatal(err)
	}
	var members []*testNode
	for _, id := range ids {
		if v := c.nodes[id].m.View(); id != manager && v.Secondary != id {
			members = append(members, c.nodes[id])
		}
	}
	victim, flooder := members[0].m, members[1].id
	assign := func(from feedring.PeerID, n int) (ok bool) {
		a := Assign{Header: victim.header(), ID: queryID(n), Client: feedring.PeerID(queryID(n).String())}
		for _, out := range victim.Step(c.now, Receive{From: from, Message: a}) {
			if s, is := out.(Send); is {
				if answer, is := s.Message.(Assigned); is {
					ok = answer.OK
				}
			}
		}
		return ok
	}
	given := 0
	for n := range maxLeases {
		if assign(flooder, n) {
			given++
		}
	}
	if given != maxOfMember {
		t.Errorf("a member was given %d places", given)
	}
	for n := range 1000 {
		if !assign(manager, 1<<20+n) {
			t.Fatalf("the manager was refused place %d", n)
		}
	}
	victim.Step(c.now.Add(victim.keepFor()), Tick{})
	if victim.ownLoad() != 0 {
		t.Errorf("%d places have not lapsed", victim.ownLoad())
	}
}

// One coordinator that uses none of its places fills half of a group, and
// leaves the rest to others.
func TestGreedyCoordinatorLeavesHalf(t *testing.T) {
	c := newCluster(6)
	m := c.nodes[c.group(1)[0]].m
	n := 0
	place := func(from feedring.PeerID) bool {
		n++
		q := Place{Header: m.header(), ID: queryID(n), Client: feedring.PeerID(queryID(n).String()), Within: time.Second}
		for _, out := range m.Step(c.now, Receive{From: from, Message: q}) {
			if s, is := out.(Send); is {
				if answer, is := s.Message.(Placed); is {
					return len(answer.Grants) > 0
				}
			}
		}
		return false
	}
	given := 0
	for range 2 * maxLeases {
		if place("greedy") {
			given++
		}
	}
	if given != maxLeases/2 {
		t.Errorf("one coordinator was given %d places of %d", given, maxLeases)
	}
	for i := range maxPlaced {
		if !place("modest") {
			t.Fatalf("another coordinator was refused its place %d", i)
		}
	}
}
