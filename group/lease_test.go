package group

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/leases"
	"github.com/feedring/feedring/group/internal/placement"
)

func queryID(n int) (id feedring.QueryID) {
	binary.BigEndian.PutUint32(id[:], uint32(n))
	return id
}

// A member that is no manager has few places kept, whatever it calls their
// clients, and they lapse.
func TestReservationsForMembersAreBounded(t *testing.T) {
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
	for n := range leases.Max {
		if assign(flooder, n) {
			given++
		}
	}
	if given != placement.MaxOfMember {
		t.Errorf("a member was given %d places", given)
	}
	for n := range 1000 {
		if !assign(manager, 1<<20+n) {
			t.Fatalf("the manager was refused place %d", n)
		}
	}
	victim.Step(c.now.Add(victim.placer.ReservedFor()), Tick{})
	if victim.placer.Load() != 0 {
		t.Errorf("%d places have not lapsed", victim.placer.Load())
	}
}

// A ticket serves one stream at a time, however often it is shown: the next one
// ends the one before, and the client counts once.
func TestTicketShownAgain(t *testing.T) {
	c := newCluster(7)
	ids := c.group(3)
	n := c.nodes[ids[1]]
	ticket := feedring.Ticket{ID: queryID(1), Group: testTheme.Group(), Client: "reader", Peers: ids[1:2], Expiry: c.now.Add(time.Minute)}
	for stream := range uint64(5) {
		var admitted, refused []uint64
		for _, out := range n.m.Step(c.now, Attach{Stream: stream, Ticket: ticket}) {
			switch out := out.(type) {
			case Admit:
				admitted = append(admitted, out.Stream)
			case Refuse:
				refused = append(refused, out.Stream)
			}
		}
		if !slices.Equal(admitted, []uint64{stream}) || stream > 0 && !slices.Equal(refused, []uint64{stream - 1}) {
			t.Errorf("stream %d: admitted %v, ended %v", stream, admitted, refused)
		}
		if got := n.m.placer.Leases(); got != 1 {
			t.Errorf("stream %d: %d leases", stream, got)
		}
	}
}

// Who is leaving serves no more clients, neither one it keeps a place for nor
// one that holds a ticket, and keeps no place.
func TestLeavingTakesNoClients(t *testing.T) {
	c := newCluster(8)
	c.group(3)
	manager, err := c.leader()
	if err != nil {
		t.Fatal(err)
	}
	n := c.nodes[manager]
	attach := func(id int) []Output {
		return n.m.Step(c.now, Attach{Stream: uint64(id), Ticket: feedring.Ticket{ID: queryID(id), Group: testTheme.Group(),
			Client: "reader", Peers: []feedring.PeerID{manager}, Expiry: c.now.Add(time.Minute)}})
	}
	assign := func(id int) (ok bool) {
		from := n.m.View().Secondary
		for _, out := range n.m.Step(c.now, Receive{From: from, Message: Assign{Header: n.m.header(), ID: queryID(id), Client: "reader"}}) {
			if s, is := out.(*Send); is {
				if answer, is := s.Message.(Assigned); is {
					ok = answer.OK
				}
			}
		}
		return ok
	}
	if !slices.Contains(attach(1), Output(Admit{Group: testTheme.Group(), Stream: 1})) || !assign(2) {
		t.Fatal("before it leaves it refuses")
	}
	c.step(n, Depart{})
	if n.departed {
		t.Fatal("it has left: nothing to ask")
	}
	for id := 2; id <= 3; id++ { // one with a place, one without
		outs := attach(id)
		if refused := func(o Output) bool { r, is := o.(Refuse); return is && r.Stream == uint64(id) }; len(outs) != 1 || !refused(outs[0]) {
			t.Errorf("while it leaves: %v", outs)
		}
	}
	if assign(4) {
		t.Error("while it leaves it keeps a place")
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
	for range 2 * leases.Max {
		if place("greedy") {
			given++
		}
	}
	if given != leases.Max/2 {
		t.Errorf("one coordinator was given %d places of %d", given, leases.Max)
	}
	for i := range placement.MaxRecent {
		if !place("modest") {
			t.Fatalf("another coordinator was refused its place %d", i)
		}
	}
}
