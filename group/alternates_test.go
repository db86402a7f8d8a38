package group

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// A member that leaves while a lookup waits for others is no alternate.
func TestWhoLeftIsNoAlternate(t *testing.T) {
	c := newCluster(6)
	ids := c.group(5)
	c.lookup(ids[0], "", time.Second) // a place at the manager, so that others go first
	c.loss = func(_, _ feedring.PeerID, m Message) bool {
		_, assign := m.(Assign)
		return assign
	}
	c.at(50*time.Millisecond, func() { c.step(c.nodes[ids[2]], Depart{}) })
	got := c.lookup(ids[0], "", time.Second)
	if len(got.Grants) != 1 || got.Grants[0].Provider.ID != ids[0] || len(got.Grants[0].Alternates) == 0 {
		t.Fatalf("granted %+v", got.Grants)
	}
	for _, a := range got.Grants[0].Alternates {
		if a.ID == ids[2] {
			t.Errorf("%s left, and is named as alternate", a.ID)
		}
	}
}
