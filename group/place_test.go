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
