package node

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// TestRefusalSaysWhatToDo: a client is told whether to ask for another ticket or to
// go elsewhere.
func TestRefusalSaysWhatToDo(t *testing.T) {
	provider := startPeer(t, peerConfig(t, "a.example"))
	formed(t, provider)
	reader, err := host.New(t.Context(), host.Config{Network: testNetwork, Client: true, Logger: quiet})
	check(t, err)
	defer reader.Close()
	_, err = reader.Given(provider.Started().Addrs[0])
	check(t, err)
	own, err := wire.NewSealer(reader.PrivateKey(), testNetwork)
	check(t, err)

	last := byte(0)
	ticket := func(theme feedring.Theme, change func(*feedring.Ticket), by *wire.Sealer) feedring.Ticket {
		last++
		ticket := feedring.Ticket{
			ID: feedring.QueryID{last}, Client: reader.ID(), Group: theme.Group(),
			Peers: []feedring.PeerID{provider.ID()}, Expiry: time.Now().Add(time.Minute).Truncate(time.Second),
		}
		change(&ticket)
		ticket.Seal = by.Ticket(ticket)
		return ticket
	}
	as := func(*feedring.Ticket) {}
	attach := func(theme feedring.Theme, ticket feedring.Ticket) wire.Frame {
		t.Helper()
		raw, err := reader.Open(t.Context(), provider.ID(), wire.VerbAttach, true)
		check(t, err)
		t.Cleanup(func() { _ = raw.Reset() })
		stream := wire.NewStream(raw)
		check(t, stream.Send(wire.AttachTo(wire.Attach{Ticket: ticket, Query: feedring.Query{Theme: theme}}), time.Second))
		var reply feedringv1.AttachReply
		check(t, stream.Receive(&reply, 10*time.Second))
		frame, err := wire.FrameFrom(&reply)
		check(t, err)
		return frame
	}
	refuses := func(why string, frame wire.Frame, want feedringv1.RefusedKind) {
		t.Helper()
		if frame.Refused == nil || frame.Refused.Kind != want {
			t.Errorf("%s: %+v, want %s", why, frame.Refused, want)
		}
	}

	const askAgain, leaving = feedringv1.RefusedKind_REFUSED_KIND_TICKET, feedringv1.RefusedKind_REFUSED_KIND_LEAVING
	refuses("a manager that nobody knew", attach(testTheme, ticket(testTheme, as, own)), askAgain)
	refuses("expired", attach(testTheme, ticket(testTheme, func(t *feedring.Ticket) { t.Expiry = t.Expiry.Add(-time.Hour) }, provider.sealer)), askAgain)
	refuses("another's", attach(testTheme, ticket(testTheme, func(t *feedring.Ticket) { t.Client = provider.ID() }, provider.sealer)), askAgain)
	refuses("a group that the provider is not in", attach("sport", ticket("sport", as, provider.sealer)), leaving)
}
