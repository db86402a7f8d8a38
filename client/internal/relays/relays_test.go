package relays

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client/internal/peerlist"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/circuit"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

func someRelays(ids ...feedring.PeerID) *Relays {
	v := &Relays{ends: make(map[feedring.PeerID]bool), Peers: peerlist.New(nil)}
	for _, id := range ids {
		v.all = append(v.all, &relay{id: id})
	}
	return v
}

// TestAnotherRelayTakesOver: a relay that fails is left for another, which stays in use; what
// an end does wrong is no reason to leave the relay, nor is an end that it does not know.
func TestAnotherRelayTakesOver(t *testing.T) {
	refusal := func(kind feedringv1.ErrorKind) error { return &wire.RemoteError{Kind: kind, Text: "no"} }
	for _, c := range []struct {
		name  string
		err   error // of relay a
		tried string
		next  feedring.PeerID
		heard bool // of relay a alone
	}{
		{"silent", circuit.ErrSilent, "[a b]", "b", false},
		{"full", refusal(feedringv1.ErrorKind_ERROR_KIND_BUSY), "[a b]", "b", false},
		{"passes nothing on", refusal(feedringv1.ErrorKind_ERROR_KIND_UNAVAILABLE), "[a b]", "b", false},
		{"does not know the end", refusal(feedringv1.ErrorKind_ERROR_KIND_UNKNOWN), "[a]", "a", true},
		{"the end is another", errors.New("peer id mismatch"), "[a]", "a", true},
		{"well", nil, "[a]", "a", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := someRelays("a", "b", "c")
				var tried []feedring.PeerID
				_ = v.each(t.Context(), "end", func(r *relay) error {
					if tried = append(tried, r.id); r.id == "a" {
						return c.err
					}
					return nil
				})
				time.Sleep(2 * restsFor)
				if next := v.order("")[0].id; fmt.Sprint(tried) != c.tried || next != c.next {
					t.Errorf("%v were tried, %s is next", tried, next)
				}
				alone := someRelays("a")
				began := time.Now()
				time.Sleep(time.Second)
				if _ = alone.each(t.Context(), "end", func(*relay) error { return c.err }); alone.Heard().After(began) != c.heard {
					t.Errorf("a relay was heard at %v, and asked a second after %v", alone.Heard(), began)
				}
			})
		})
	}
}

// TestNoEndIsItsOwnRelay: relays that were asked as ends come last, and none leads to itself;
// where there is no other one, it fails.
func TestNoEndIsItsOwnRelay(t *testing.T) {
	v := someRelays("a", "b", "c")
	v.ends["b"] = true
	var order []feedring.PeerID
	for _, r := range v.order("a") {
		order = append(order, r.id)
	}
	if !slices.Equal(order, []feedring.PeerID{"c", "b"}) {
		t.Errorf("to a by way of %v", order)
	}
	alone := someRelays("a")
	if err := alone.each(context.Background(), "a", func(*relay) error { return nil }); !errors.Is(err, ErrRelay) {
		t.Errorf("a by way of itself: %v", err)
	}
}

// TestOnlyRelaysAreConnectedTo: the host of a client dials a relay once that is tried, and
// nobody else.
func TestOnlyRelaysAreConnectedTo(t *testing.T) {
	v := someRelays("a", "b")
	v.all[0].used = true
	for id, want := range map[feedring.PeerID]bool{"a": false, "b": true, "end": true} {
		if v.RefusePeer(id) != want {
			t.Errorf("%s is refused: %v", id, !want)
		}
	}
}

// TestRelayIsAskedForPeersOnceAPeriod: a relay that names nobody is not asked anew for each
// stream, but sooner again than one that named a peer.
func TestRelayIsAskedForPeersOnceAPeriod(t *testing.T) {
	quiet := slog.New(slog.DiscardHandler)
	relay, err := host.New(t.Context(), host.Config{Network: "test", Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = relay.Close() })
	var asked, names atomic.Int32
	relay.Handle(wire.VerbPass, func(s network.Stream) {
		asked.Add(1)
		known := []feedring.PeerInfo{{ID: "12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp"}}
		frames := wire.NewStream(s)
		_ = frames.Receive(new(feedringv1.PassRequest), time.Second)
		_ = frames.Send(circuit.ReplyTo(known[:names.Load()]), time.Second)
		_ = s.Close()
	})
	v, err := New(t.Context(), Config{Network: "test", Via: relay.Addrs()[0], Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	for period, every := range []time.Duration{noneEvery, namesEvery} {
		names.Store(int32(period))
		v.nextAsk = time.Time{}
		for range 5 {
			if err := v.LearnPeers(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n := asked.Load(); n != int32(period+1) {
			t.Errorf("asked %d times in %d periods", n, period+1)
		}
		if wait := time.Until(v.nextAsk); wait > every || wait < every-time.Minute {
			t.Errorf("after it named %d peers it is asked again in %v, want %v", period, wait, every)
		}
	}
}
