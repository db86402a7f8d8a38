package ask

import (
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/cmd/feedring/internal/command"
)

// TestFollowersGoOnThroughTheirRelay: who goes on by a name alone does not show its address
// to those that it did not show it to before.
func TestFollowersGoOnThroughTheirRelay(t *testing.T) {
	a := &commands{&command.Env{Data: t.TempDir()}}
	s, err := a.openSaved("k", feedring.Query{Theme: "news"}, typedParts{})
	if err != nil {
		t.Fatal(err)
	}
	s.Via, s.Peers = client.AnyRelay, []string{"/ip4/192.0.2.1/tcp/1/p2p/12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp"}
	if err := s.write(); err != nil {
		t.Fatal(err)
	}
	again, err := a.openSaved("k", feedring.Query{}, typedParts{})
	if err != nil || again.Via != client.AnyRelay || len(again.Peers) != 1 {
		t.Errorf("%q, %q, %v", again.Via, again.Peers, err)
	}
}
