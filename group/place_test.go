package group

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// TestPlacesOfOneCoordinator: what one has under way leaves room for others,
// and is given back.
func TestPlacesOfOneCoordinator(t *testing.T) {
	c := newCluster(3)
	n := c.nodes[c.group(4)[0]]
	for i := range maxPlacing {
		id := feedring.QueryID{byte(i), byte(i >> 8), 1}
		n.m.Step(c.now, Receive{From: "flood", Message: Place{Header: Header{Group: testTheme.Group()}, ID: id, Client: "x", Within: time.Second}})
	}
	if got := n.m.placingFor["flood"]; got != maxPlacingFor || len(n.m.placing) != got {
		t.Errorf("%d of %d lookups are one coordinator's", got, len(n.m.placing))
	}
	n.m.Step(c.now.Add(2*time.Second), Tick{})
	if len(n.m.placing) != 0 || len(n.m.placingFor) != 0 {
		t.Errorf("%d lookups are still counted", n.m.placingFor["flood"])
	}
}

// TestNoAlternateThatLeft: who leaves while a lookup is under way is no alternate.
func TestNoAlternateThatLeft(t *testing.T) {
	c := newCluster(7)
	c.group(4)
	c.run(5 * time.Second)
	manager, err := c.leader()
	if err != nil {
		t.Fatal(err)
	}
	m := c.nodes[manager].m
	placed := func(out []Output) (p Placed, done bool) {
		for _, o := range out {
			if s, is := o.(*Send); is {
				if answer, is := s.Message.(Placed); is {
					return answer, true
				}
			}
		}
		return p, false
	}
	for n := range 100 {
		ask := Place{Header: Header{Group: testTheme.Group()}, ID: queryID(n), Client: "x", Within: time.Second}
		var asked feedring.PeerID
		for _, o := range m.Step(c.now, Receive{From: "asker", Message: ask}) {
			if s, is := o.(*Send); is && s.Message.Verb() == (Assign{}).Verb() {
				asked = s.To
			}
		}
		if asked == "" {
			continue // itself
		}
		var leaves feedring.PeerID
		for p := range m.members {
			if p != manager && p != asked {
				leaves = p
			}
		}
		row := *m.members[leaves].row
		row.Version, row.Left = row.Version+1, true
		m.Step(c.now, Receive{From: leaves, Message: Leave{Header: m.header(), Row: row}})
		answer, done := placed(m.Step(c.now, Receive{From: asked, Message: Assigned{Header: m.header(), ID: ask.ID, OK: true, Leases: 1}}))
		if !done || len(answer.Grants) != 1 || len(answer.Grants[0].Alternates) == 0 {
			t.Fatalf("%s answered, and %+v comes of it", asked, answer)
		}
		for _, a := range answer.Grants[0].Alternates {
			if a.ID == leaves {
				t.Errorf("%s left, and is an alternate", a.ID)
			}
		}
		return
	}
	t.Fatal("nobody was asked for room")
}
