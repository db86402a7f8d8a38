package node

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	circuit "github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/internal/host"
)

// TestFollowerOutlivesARelaysLimit: a reader that reaches a publisher through a
// relay alone goes on each time the relay ends what it carries, and is shown
// everything once, in order.
func TestFollowerOutlivesARelaysLimit(t *testing.T) {
	for name, limit := range map[string]relay.RelayLimit{
		"time":  {Duration: time.Second, Data: 1 << 30},
		"bytes": {Duration: time.Hour, Data: 64 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const carried = 4 // connections, one after the other
			home := startRelayed(t, limit)
			shown := followTitles(t, home.addr)
			published := 0
			for home.carried.Load() < carried {
				check(t, home.testPublish(published+1, published+20))
				published += 20
				eventually(t, "all shown", func() bool { return len(shown()) >= published })
			}
			for i, title := range shown() {
				if want := fmt.Sprintf("%s of home.example", anEntry(i+1).Title); title != want {
					t.Fatalf("entry %d of %d: %q, want %q", i+1, published, title, want)
				}
			}
			if n := len(shown()); n != published {
				t.Errorf("%d of %d were shown", n, published)
			}
		})
	}
}

// relayedPeer is a peer that listens nowhere but at a relay.
type relayedPeer struct {
	*Node
	addr    string
	carried atomic.Int32 // connections that came over the relay
}

func startRelayed(t *testing.T, limit relay.RelayLimit) *relayedPeer {
	t.Helper()
	carrier, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"))
	check(t, err)
	resources := relay.DefaultResources()
	resources.Limit = &limit
	service, err := relay.New(carrier, relay.WithResources(resources))
	check(t, err)
	t.Cleanup(func() { _ = service.Close() })
	member, err := host.NewWith(carrier, host.Config{Network: "test", Logger: quiet})
	check(t, err)
	t.Cleanup(func() { _ = member.Close() })
	at := ma.StringCast(fmt.Sprintf("%s/p2p/%s/p2p-circuit", carrier.Addrs()[0], carrier.ID()))
	told := func([]ma.Multiaddr) []ma.Multiaddr { return []ma.Multiaddr{at} }
	lib, err := libp2p.New(libp2p.NoListenAddrs, libp2p.EnableRelay(), libp2p.AddrsFactory(told))
	check(t, err)
	home := &relayedPeer{addr: fmt.Sprintf("%s/p2p/%s", at, lib.ID())}
	lib.Network().Notify(&network.NotifyBundle{ConnectedF: func(_ network.Network, c network.Conn) {
		if c.Stat().Limited {
			home.carried.Add(1)
		}
	}})
	home.Node, err = start(t.Context(), peerConfig(t, "home.example"), simulated{lib})
	check(t, err)
	t.Cleanup(func() { kill(home.Node) })
	_, err = circuit.Reserve(t.Context(), lib, peer.AddrInfo{ID: carrier.ID(), Addrs: carrier.Addrs()})
	check(t, err)
	formed(t, home.Node)
	return home
}

// followTitles follows at a peer until the test ends, and returns what was
// shown so far.
func followTitles(t *testing.T, addr string) func() []string {
	t.Helper()
	reader, err := client.New(t.Context(), client.Config{Network: "test", Peers: []string{addr}, Logger: quiet})
	check(t, err)
	var mu sync.Mutex
	var shown []string
	ctx, cancel := context.WithCancel(t.Context())
	begun, ended := make(chan struct{}), make(chan error, 1)
	var following sync.WaitGroup
	following.Go(func() {
		o := client.FollowOptions{First: func(client.Answer) error { close(begun); return nil }}
		ended <- reader.Follow(ctx, feedring.Query{Theme: testTheme}, o, func(e feedring.Entry, _ feedring.Cursor) error {
			mu.Lock()
			defer mu.Unlock()
			shown = append(shown, e.Title)
			return nil
		})
	})
	t.Cleanup(func() {
		cancel()
		following.Wait()
		_ = reader.Close()
	})
	select {
	case <-begun:
	case err := <-ended:
		t.Fatal("the follower does not begin: ", err)
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(shown)
	}
}
