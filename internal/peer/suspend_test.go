package peer

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/ring"
)

// TestSuspendLeavesWithoutAWord: the others are told nothing that they would take
// for a word of the process that goes on; offers wait for Resume.
func TestSuspendLeavesWithoutAWord(t *testing.T) {
	for _, first := range []feedring.PeerID{"a", "b"} { // manager, secondary
		c := newCluster(t)
		c.start("a")
		c.publish("a", "news=lemonde.fr")
		c.start("b", "a")
		c.publish("b", "news=lwn.net")
		c.start("c", "a")
		c.publish("c", "news=taz.de")
		formed := func() bool {
			return len(c.peers["c"].View().Groups["news"].Peers) == 3 && c.peers["b"].View().Settled()
		}
		if !c.run(10*time.Second, formed) {
			t.Fatal("no group of three")
		}
		m, news := c.peers[first].Machine, feedring.Theme("news").Group()
		before := m.memberships[news].group.View().Members
		var incarnation uint64
		for _, member := range before {
			if member.Row.Peer == first {
				incarnation = member.Row.Incarnation
			}
		}
		none := false
		for _, out := range m.Step(c.now, Suspend{}) {
			switch out := out.(type) {
			case *Send:
				if _, says := out.Message.(ring.Message); !says {
					t.Errorf("%s says %T", first, out.Message)
				}
				if rows, says := out.Message.(ring.Rows); says {
					for _, row := range rows.Rows {
						if row.Gone {
							t.Errorf("%s says that its group is gone", first)
						}
					}
				}
			case group.RoleChanged:
				none = out.Role == feedring.RoleNone
			}
		}
		if len(m.memberships) > 0 || !none || m.View().Roles["news"].Role != feedring.RoleNone {
			t.Fatalf("%s is in a group still", first)
		}
		c.publish(first, "news=lemonde.fr")
		c.run(5*time.Second, nil)
		if len(m.memberships) > 0 {
			t.Fatalf("%s joins what it is offered while it is suspended", first)
		}
		m.Step(c.now, Resume{})
		c.publish(first, "news=lemonde.fr")
		if !c.run(10*time.Second, func() bool {
			return c.peers[first].View().Settled() && len(c.peers["c"].View().Groups["news"].Peers) == 3
		}) {
			t.Fatalf("%s does not come back", first)
		}
		for _, member := range m.memberships[news].group.View().Members {
			if member.Row.Peer == first && member.Row.Incarnation <= incarnation {
				t.Errorf("%s comes back as incarnation %d, as before", first, member.Row.Incarnation)
			}
		}
	}
}
