package peer

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// TestRowsOfFormerManagersHideNobody: both leaders of a group of three leave it, or die, within
// moments. Nobody is left to follow the third, and theirs is the last row that somebody acknowledged.
// Who comes then finds the third all the same.
func TestRowsOfFormerManagersHideNobody(t *testing.T) {
	ends := map[string]func(c *cluster, id feedring.PeerID){
		"leave": func(c *cluster, id feedring.PeerID) { c.publish(id) },
		"die":   func(c *cluster, id feedring.PeerID) { c.kill(id) },
	}
	for how, end := range ends {
		for _, joins := range []bool{false, true} {
			for between := time.Duration(0); between <= 1600*time.Millisecond; between += 40 * time.Millisecond {
				t.Run(fmt.Sprintf("%s/%t/%v", how, joins, between), func(t *testing.T) {
					c := newCluster(t)
					c.start("a")
					c.publish("a", "news=a.example")
					c.run(2*time.Second, nil)
					for _, id := range []feedring.PeerID{"b", "c"} {
						c.start(id, "a")
						c.publish(id, "news="+hostOf(id))
						c.run(2*time.Second, nil)
					}
					if lead := c.peers["c"].memberships[news].group.Lead(); lead.Manager != "a" || lead.Secondary != "b" {
						t.Fatalf("c follows %v", lead)
					}
					end(c, "a")
					c.run(between, nil)
					end(c, "b")
					if !c.run(10*time.Second, func() bool { return c.peers["c"].memberships[news].role == feedring.RoleManager }) {
						t.Fatal("nobody leads those who are left")
					}
					if !joins {
						lead := func() feedring.PeerID { row, _, _ := c.peers["c"].ring.Row(news); return row.Term.Claimant }
						if !c.run(10*time.Second, func() bool { return lead() == "c" }) {
							t.Errorf("the map names %s", lead())
						}
						return
					}
					via := feedring.PeerID("a")
					if how == "die" {
						via = "c"
					}
					c.start("d", via)
					c.publish("d", "news=d.example")
					if !c.run(10*time.Second, func() bool {
						d := c.peers["d"].memberships[news]
						return d.settled() && d.group.Lead().Manager == c.peers["c"].memberships[news].group.Lead().Manager
					}) {
						row, _, _ := c.peers["c"].ring.Row(news)
						t.Fatalf("two groups: c says %v, d %v; the map names %v", c.peers["c"].memberships[news].group.Lead(), c.peers["d"].memberships[news].group.Lead(), row.Term)
					}
				})
			}
		}
	}
}

var news = feedring.Theme("news").Group()

func hostOf(id feedring.PeerID) string { return string(id) + ".example" }
