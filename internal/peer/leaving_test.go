package peer

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// Who leaves, or leaves one group, refuses the clients that come with a ticket
// of the group: while the role is handed over, and when the membership is gone.
func TestLeavingRefusesClients(t *testing.T) {
	for name, leave := range map[string]Input{
		"every group": Depart{},
		"one group":   Offer{Addrs: []string{"/memory/a"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.start("a")
			c.publish("a", "news=lemonde.fr")
			c.start("b", "a")
			c.publish("b", "news=lwn.net")
			news := feedring.Theme("news").Group()
			if !c.run(10*time.Second, func() bool { return c.peers["a"].View().Groups["news"].Secondary == "b" }) {
				t.Fatal("a has nobody to hand its role over to")
			}
			m, stream := c.peers["a"].Machine, uint64(0)
			refused := func() bool {
				stream++
				ticket := feedring.Ticket{ID: queryID(stream), Group: news, Client: "reader", Peers: []feedring.PeerID{"a"}, Expiry: c.now.Add(time.Minute)}
				for _, out := range m.Step(c.now, In{Group: news, Input: group.Attach{Stream: stream, Ticket: ticket}}) {
					switch out := out.(type) {
					case group.Admit:
						return false
					case group.Refuse:
						return out.Stream == stream
					}
				}
				t.Fatal("neither admitted nor refused")
				return false
			}
			if refused() {
				t.Fatal("refused before it leaves")
			}
			c.step("a", leave)
			if m.memberships[news] == nil {
				t.Fatal("it has left already")
			}
			if !refused() {
				t.Error("admitted while it leaves")
			}
			if !c.run(10*time.Second, func() bool { return m.memberships[news] == nil }) {
				t.Fatal("it does not leave")
			}
			if name == "one group" && !refused() {
				t.Error("admitted after it left")
			}
		})
	}
}
