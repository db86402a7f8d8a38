package group

import (
	"reflect"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// A view that is kept is what would be made anew, whatever happens.
func TestCachedViewIsCurrent(t *testing.T) {
	c := newCluster(17)
	steps, kept := 0, 0
	var last *View
	c.check = func() {
		if steps++; steps%3 > 0 {
			return
		}
		for _, n := range c.alives() {
			got := n.m.View()
			want := n.m.makeView(n.m.viewKey())
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("step %d at %s:\n%+v\n%+v", steps, n.id, got, want)
			}
			if got == last {
				kept++
			}
			if n.id == "p01" {
				last = got
			}
		}
	}
	ids := c.group(5)
	c.step(c.nodes[ids[1]], Attach{Stream: 1, Ticket: feedring.Ticket{ID: feedring.QueryID{1}, Group: testTheme.Group(), Client: "k", Peers: ids, Expiry: c.now.Add(time.Hour)}})
	c.publish(ids[2], c.nodes[ids[2]].feeds[0].URL)
	c.run(3 * time.Second)
	c.crash(ids[0])
	c.run(5 * time.Second)
	c.step(c.nodes[ids[1]], Detach{Stream: 1})
	c.start(ids[0])
	c.step(c.nodes[ids[0]], Enter{Via: ids[1:]})
	c.run(5 * time.Second)
	c.step(c.nodes[ids[3]], Depart{})
	c.run(5 * time.Second)
	if kept < steps/10 {
		t.Errorf("in %d steps a view was kept %d times", steps, kept)
	}
}
