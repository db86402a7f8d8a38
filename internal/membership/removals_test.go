package membership

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/charters"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// pipe is a stream to a peer of the same process.
type pipe struct{ inner }

// inner keeps its name from that of a method.
type inner = net.Conn

func (pipe) CloseRead() error                               { return nil }
func (p pipe) CloseWrite() error                            { return nil }
func (p pipe) Reset() error                                 { return p.Close() }
func (p pipe) ResetWithError(network.StreamErrorCode) error { return p.Close() }
func (pipe) ID() string                                     { return "" }
func (pipe) Protocol() protocol.ID                          { return "" }
func (pipe) SetProtocol(protocol.ID) error                  { return nil }
func (pipe) Stat() network.Stats                            { return network.Stats{} }
func (pipe) Conn() network.Conn                             { return nil }
func (pipe) Scope() network.StreamScope                     { return nil }

// beside is a host whose streams lead to one peer.
type beside struct {
	nowhere
	serve func(*wire.Stream)
}

func (b beside) Open(context.Context, feedring.PeerID, feedring.Verb, bool) (network.Stream, error) {
	here, there := net.Pipe()
	go func() {
		b.serve(wire.NewStream(there))
		_ = there.Close()
	}()
	return pipe{here}, nil
}

// exchangesWith has k open an exchange with another keeper.
func (k *Keeper) exchangesWith(t *testing.T, o *Keeper) {
	t.Helper()
	served := make(chan error, 1)
	k.host = beside{serve: func(s *wire.Stream) { served <- o.ServeRoll(k.self(), s) }}
	must(t, k.exchange(t.Context(), o.self()))
	must(t, <-served)
}

// removes has k sign a removal of a feed and take it over.
func (k *Keeper) removes(t *testing.T, url string) {
	t.Helper()
	s, err := k.Signer("")
	must(t, err)
	signed, err := s.Moderate(charter.FeedTarget(url), false, "advertising")
	must(t, err)
	if news, err := k.Merge(signed); err != nil || news != 1 {
		t.Fatalf("%d statements are new, %v", news, err)
	}
}

func (k *Keeper) admits(t *testing.T, o *Keeper) {
	t.Helper()
	s, err := k.Signer("")
	must(t, err)
	signed, err := s.Admit(o.self(), charter.Invited, time.Hour)
	must(t, err)
	_, err = k.Merge(signed)
	must(t, err)
}

const removedURL = "https://a.example/feed.xml"

// TestRemovalsTravel: whoever opens the exchange, and over a restart.
func TestRemovalsTravel(t *testing.T) {
	k, _ := founder(t)
	o := k.other(t)
	k.admits(t, o)
	k.exchangesWith(t, o)
	k.removes(t, removedURL)
	o.exchangesWith(t, k)
	ref := feedring.FeedRef{URL: removedURL, Publisher: o.self()}
	if !o.RemovesFeed(ref) || !o.Removes(ref, "") || o.RemovalChanges() != 1 || o.Roll().Whole() != k.Roll().Whole() {
		t.Error("the removal has not come")
	}
	if why, removed := o.WhyRemoved(removedURL); !removed || why != "advertising" {
		t.Errorf("the reason is %q", why)
	}
	k.removes(t, "https://b.example/")
	k.exchangesWith(t, o)
	if !o.RemovesFeed(feedring.FeedRef{URL: "https://b.example/"}) {
		t.Error("the second removal has not come")
	}
	must(t, write(o.data, charterFile, o.charter.Load().Text))
	again, err := Open(o.data)
	must(t, err)
	if !again.RemovesFeed(ref) {
		t.Error("the removal is not kept")
	}
	if (*Keeper)(nil).RemovesAny() || Stranger("x", "").RemovesAny() {
		t.Error("somebody without a roll removes something")
	}
}

// TestWhoMaySignRemovals: a member may not, nor may an admin that a root did not let.
func TestWhoMaySignRemovals(t *testing.T) {
	k, root := founder(t)
	o := k.other(t)
	k.admits(t, o)
	k.exchangesWith(t, o)
	s, err := o.Signer("")
	must(t, err)
	if _, err := s.Moderate(removedURL, false, ""); !errors.Is(err, ErrMayNotModerate) {
		t.Errorf("a member removes: %v", err)
	}
	// What it signs all the same is not taken over, and its signature is not checked.
	forged, err := charters.SealRemoval(o.sealer.Load(), &charter.Removal{Target: removedURL, At: time.Now(), Until: time.Now().Add(time.Hour)})
	must(t, err)
	wrong := charters.StatementsTo([]charter.Statement{forged})
	wrong[0].GetRemoval().Signature[0] ^= 1
	must(t, k.takeFrom(wrong, 1))
	if news, err := k.Merge([]charter.Statement{forged}); err != nil || news != 0 || k.RemovesAny() {
		t.Errorf("%d statements of a member are new, %v", news, err)
	}
	byRoot, err := k.Signer(root)
	must(t, err)
	if _, err := byRoot.Moderate(charter.PeerTarget(o.self()), false, ""); err != nil {
		t.Errorf("a root: %v", err)
	}
}

// TestPeersWithoutRemovals: a peer of a version that does not know them tells no whole. It
// is told of all else, as it compares it, and of no removal.
func TestPeersWithoutRemovals(t *testing.T) {
	k, _ := founder(t)
	old := k.other(t)
	k.removes(t, removedURL)
	hash, ids := k.Roll().Hash(), k.Roll().Have(false)

	// It opens the exchange: first with the same roll, then with an empty one.
	opens := func(hash charter.ID, want []uint64) (answer, brought *feedringv1.Roll) {
		here, there := net.Pipe()
		defer here.Close()
		go func() {
			_ = k.ServeRoll(old.self(), wire.NewStream(there))
			_ = there.Close()
		}()
		s := wire.NewStream(here)
		answer, brought = &feedringv1.Roll{}, &feedringv1.Roll{}
		must(t, s.Send(&feedringv1.Roll{Hash: hash[:]}, time.Second))
		must(t, s.Receive(answer, time.Second))
		if len(want) > 0 {
			must(t, s.Send(&feedringv1.Roll{Hash: hash[:], Want: want}, time.Second))
			must(t, s.Receive(brought, time.Second))
		}
		return answer, brought
	}
	if answer, _ := opens(hash, nil); string(answer.GetHash()) != string(hash[:]) || len(answer.GetHave()) != 0 {
		t.Errorf("a peer that has all but the removal is told of %d statements", len(answer.GetHave()))
	}
	answer, brought := opens(charter.ID{1}, ids)
	if len(answer.GetHave()) != len(ids) || len(brought.GetStatements()) != len(ids) {
		t.Errorf("an empty peer is told of %d statements and brought %d, want %d", len(answer.GetHave()), len(brought.GetStatements()), len(ids))
	}

	// It answers one: its roll is the same but for the removal, then it is empty.
	for name, c := range map[string]struct {
		hash charter.ID
		want int
	}{"the same": {hash, 0}, "empty": {charter.ID{1}, len(ids)}} {
		got := make(chan int, 1)
		k.host = beside{serve: func(s *wire.Stream) {
			var first, second feedringv1.Roll
			if s.Receive(&first, time.Second) != nil || s.Send(&feedringv1.Roll{Hash: c.hash[:]}, time.Second) != nil {
				got <- -1
				return
			}
			_ = s.Receive(&second, time.Second) // nothing comes where the rolls are the same
			got <- len(second.GetStatements())
		}}
		must(t, k.exchange(t.Context(), old.self()))
		if n := <-got; n != c.want {
			t.Errorf("%s: %d statements came, want %d", name, n, c.want)
		}
	}
}
