package group

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/placement"
)

// TestLookupsOfOneCoordinatorAreBounded: what one has under way leaves room for others,
// and is given back.
func TestLookupsOfOneCoordinatorAreBounded(t *testing.T) {
	c := newCluster(3)
	n := c.nodes[c.group(4)[0]]
	for i := range placement.MaxLookups {
		id := feedring.QueryID{byte(i), byte(i >> 8), 1}
		n.m.Step(c.now, Receive{From: "flood", Message: Place{Header: Header{Group: testTheme.Group()}, ID: id, Client: "x", Within: time.Second}})
	}
	if all, one := n.m.placer.Lookups("flood"); one != placement.MaxLookupsOf || all != one {
		t.Errorf("%d of %d lookups are one coordinator's", one, all)
	}
	n.m.Step(c.now.Add(2*time.Second), Tick{})
	if all, one := n.m.placer.Lookups("flood"); all != 0 || one != 0 {
		t.Errorf("%d lookups are still counted", one)
	}
}
