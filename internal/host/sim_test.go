package host

import (
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/x/simlibp2p"
	"github.com/marcopolo/simnet"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/directory"
)

// TestInVirtualTime runs hosts over a simulated network: the address book
// leads from one known peer to all, and goes on
// doing so when its records have expired many times.
func TestInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link := simnet.LinkSettings{BitsPerSecond: 20 * simlibp2p.OneMbps}
		net, meta, err := simlibp2p.SimpleLibp2pNetwork([]simlibp2p.NodeLinkSettingsAndCount{{
			LinkSettings: simnet.NodeBiDiLinkSettings{Downlink: link, Uplink: link}, Count: 5,
		}}, simnet.StaticLatency(20*time.Millisecond), simlibp2p.NetworkSettings{})
		if err != nil {
			t.Fatal(err)
		}
		net.Start()
		defer net.Close()
		var hosts []*Host
		for _, lib := range meta.Nodes {
			h, err := NewWith(lib, Config{Network: "test", Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			echo(h)
			hosts = append(hosts, h)
		}
		defer func() {
			var closing sync.WaitGroup
			for _, h := range hosts {
				closing.Go(func() { _ = h.Close() })
			}
			closing.Wait()
			synctest.Wait()
		}()
		hub, rest := hosts[0], hosts[1:]
		for _, h := range rest {
			if err := h.Provide(t.Context(), group); err != nil {
				t.Fatal(err)
			}
			h.Join(t.Context(), hub.Addrs()[:1], nil, joinerFunc(func([]feedring.PeerID, bool) {}))
		}
		time.Sleep(10 * time.Second) // virtual
		found, err := rest[0].FindGroup(t.Context(), group)
		if err != nil || len(found) != len(rest)-1 {
			t.Fatalf("found %d of %d: %v", len(found), len(rest)-1, err)
		}
		for _, p := range found {
			if err := ask(t.Context(), rest[0], p.ID); err != nil {
				t.Errorf("%s: %v", p.ID.Short(), err)
			}
		}
		// Records expire, and are given again in time.
		time.Sleep(2 * directory.Valid)
		if found, _ = rest[0].FindGroup(t.Context(), group); len(found) != len(rest)-1 {
			t.Errorf("after an hour %d of %d are provided", len(found), len(rest)-1)
		}
	})
}
