package peer

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
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

// A founder lost its store, and founds again before it has the map, under the number
// that the life before used: members of that one take its answers for their
// manager's, and hear nothing else of it. It claims anew.
func TestAForgottenLifeManagedUnderTheSameTerm(t *testing.T) {
	c := newCluster(t)
	c.start("a")
	c.publish("a", "news=a.org")
	for _, id := range []feedring.PeerID{"b", "c", "d"} {
		c.start(id, "a")
		c.publish(id, "news="+string(id)+".org")
	}
	c.run(20*time.Second, nil)
	if term, err := c.led("news", c.names...); err != nil || term.Number != 1 {
		t.Fatalf("they follow %v: %v", term, err)
	}
	c.kill("a")
	c.peers["a"].disk = State{Groups: map[feedring.Theme]group.State{}}
	c.start("a")
	c.publish("a", "news=a.org")
	c.run(100*time.Millisecond, nil)
	c.step("a", Known{Peers: []feedring.PeerID{"b"}})
	c.run(4*time.Second, nil)
	term, err := c.led("news", c.names...)
	if err != nil || term.Number == 1 {
		t.Errorf("they follow %v: %v", term, err)
	}
	for _, id := range c.names {
		if v := c.peers[id].Membership("news"); len(v.Members) != 4 {
			t.Errorf("%s knows %d members", id, len(v.Members))
		}
	}
}
