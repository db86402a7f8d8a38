package peer

import (
	"testing"
	"time"

	"github.com/feedring/feedring/ring"
)

// A group whose row a dead one keeps out of the map meets a founder above that
// row, whom nobody follows and the map shows: the group claims above both. Else
// neither would ever hear of the other.
func TestHiddenGroupMeetsALoneFounder(t *testing.T) {
	c := newCluster(t)
	c.start("alone")
	c.step("alone", Receive{From: "evil", Message: ring.Rows{Rows: []*ring.Row{absurd("news", 5, true)}}})
	c.publish("alone", "news=alone.org")
	c.start("a")
	c.publish("a", "news=a.org")
	c.run(time.Second, nil)
	c.start("b", "a")
	c.publish("b", "news=b.org")
	c.run(5*time.Second, nil)
	if term, err := c.led("news", "a", "b"); term.Number != 1 || c.peers["alone"].View().Roles["news"].Term.Number != 6 {
		t.Fatalf("they follow %v: %v", term, err)
	}
	c.step("alone", Known{Peers: c.names[:1]})
	c.run(10*time.Second, nil)
	if term, err := c.led("news", c.names...); err != nil || term.Number != 7 {
		t.Errorf("they follow %v: %v", term, err)
	}
}
