package peer

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/ring"
)

// A manager whose key somebody else uses to claim its group, in the map, is
// told so.
func TestDuplicateIdentityInTheMap(t *testing.T) {
	c := newCluster(t)
	c.start("a")
	c.publish("a", "news=lemonde.fr")
	c.start("b", "a")
	c.publish("b", "sport=equipe.fr")
	c.run(10*time.Second, nil)
	m := c.peers["a"].Machine
	reported := 0
	for range 100 {
		c.now = c.now.Add(200 * time.Millisecond)
		row, _, _ := m.ring.Row(feedring.Theme("news").Group())
		row.Term.Number++
		row.Seal = &feedring.Seal{Signer: "a"}
		said := m.Step(c.now, Receive{From: "b", Message: ring.Rows{Rows: []*ring.Row{&row}}})
		for _, out := range append(said, m.Step(c.now, Tick{})...) {
			if clone, ok := out.(group.DuplicateIdentity); ok && clone.Theme == "news" {
				reported++
			}
		}
	}
	if reported == 0 {
		t.Error("nothing is reported")
	}
}
