package members

import (
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
)

// connected is a network in which every peer is there.
type connected struct{}

func (connected) Connected(peer.ID) bool { return true }
func (connected) Welcome(peer.ID) bool   { return true }
func (connected) Met(peer.ID)            {}

// A stream may come before its peer has said which program it is.
func TestTheAgentMayComeLater(t *testing.T) {
	table := New(connected{})
	table.Gained("p", "")
	table.Serves("p")
	before := table.All()["p"]
	for _, step := range []struct{ agent, want string }{{"", ""}, {"feedring/1", "feedring/1"}, {"", "feedring/1"}, {"other", "feedring/1"}} {
		table.Gained("p", step.agent)
		if p := table.All()["p"]; p.Agent != step.want || p.Since != before.Since || !p.Server {
			t.Errorf("after %q: %+v, want the agent %q and all else as in %+v", step.agent, p, step.want, before)
		}
	}
}
