package peer

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// The group of a fleet is founded without a feed, tells how much each peer has room for,
// and is shown to nobody.
func TestAFleetsGroupIsFoundedAndShownToNobody(t *testing.T) {
	c := newCluster(t)
	theme := feedring.FleetTheme([8]byte{1, 2, 3})
	c.start("a")
	c.publish("a", "news=lemonde.fr")
	fleet := func(id feedring.PeerID, capacity int) {
		c.step(id, Offer{Addrs: []string{"/memory/" + string(id)}, Read: []feedring.Theme{theme}, Capacity: capacity})
	}
	for i, id := range []feedring.PeerID{"b", "c", "d"} {
		c.start(id, "a")
		fleet(id, 1000*(i+1))
	}
	room := func(id feedring.PeerID) map[feedring.PeerID]int {
		told := make(map[feedring.PeerID]int)
		if v := c.peers[id].View().Fleet; v != nil {
			for _, m := range v.Members {
				told[m.Row.Peer] = m.Row.Capacity
			}
		}
		return told
	}
	whole := func(second int) func() bool {
		return func() bool {
			for _, id := range []feedring.PeerID{"b", "c", "d"} {
				if r := room(id); len(r) != 3 || r["b"] != 1000 || r["c"] != second || r["d"] != 3000 {
					return false
				}
			}
			return true
		}
	}
	if !c.run(time.Minute, whole(2000)) {
		t.Fatalf("the peers of the fleet know of each other: %v, %v, %v", room("b"), room("c"), room("d"))
	}
	if fleet("c", 500); !c.run(time.Minute, whole(500)) {
		t.Errorf("one that has less room tells it: %v, %v", room("b"), room("d"))
	}
	for _, id := range []feedring.PeerID{"a", "b"} {
		v := c.peers[id].View()
		if len(v.Ring) != 1 || v.Ring[0].Theme != "news" || len(v.Groups) > 1 || v.Roles[theme].Role != feedring.RoleNone {
			t.Errorf("%s shows the fleet: ring %v, groups %v, roles %v", id, v.Ring, v.Groups, v.Roles)
		}
		if !c.peers[id].OnMap(theme.Group()) {
			t.Errorf("%s: the fleet is not on the map, by which its peers find each other", id)
		}
	}
	if f := c.ask("a", feedring.Query{}, 10*time.Second); f.Status != feedring.Answered || len(f.Missing) > 0 {
		t.Errorf("a query of all groups waits for a fleet: %s", finalText(f))
	}
	// As where the fleet's peers answer no stranger: nobody waits for them.
	c.drops = func(from, to feedring.PeerID, m feedring.Message) bool {
		of, ok := m.(group.Message)
		return ok && of.Of().Group == theme.Group() && (from == "a" || to == "a")
	}
	for _, id := range []feedring.PeerID{"a", "b"} {
		if f := c.ask(id, feedring.Query{}, 10*time.Second); f.Status != feedring.Answered || len(f.Missing) > 0 {
			t.Errorf("a query of all groups, asked at %s, waits for a fleet that answers nobody: %s", id, finalText(f))
		}
		if f := c.ask(id, feedring.Query{Provider: "nobody.example"}, 10*time.Second); f.Status != feedring.Unsatisfied {
			t.Errorf("a provider that nobody has, asked at %s: %s", id, finalText(f))
		}
	}
	if f := c.ask("a", feedring.Query{Theme: theme[:len(theme)-1]}, 10*time.Second); len(f.Suggest) > 0 {
		t.Errorf("a fleet is suggested: %s", finalText(f))
	}
}
