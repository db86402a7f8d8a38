package group

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/guests"
)

func queryID(n int) (id feedring.QueryID) {
	binary.BigEndian.PutUint32(id[:], uint32(n))
	return id
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
			if s, is := out.(*Send); is {
				if answer, is := s.Message.(Assigned); is {
					ok = answer.OK
				}
			}
		}
		return ok
	}
	given := 0
	for n := range guests.Max {
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
			if s, is := out.(*Send); is {
				if answer, is := s.Message.(Placed); is {
					return len(answer.Grants) > 0
				}
			}
		}
		return false
	}
	given := 0
	for range 2 * guests.Max {
		if place("greedy") {
			given++
		}
	}
	if given != guests.Max/2 {
		t.Errorf("one coordinator was given %d places of %d", given, guests.Max)
	}
	for i := range maxPlaced {
		if !place("modest") {
			t.Fatalf("another coordinator was refused its place %d", i)
		}
	}
}
