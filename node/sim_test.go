package node

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	libp2phost "github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/x/simlibp2p"
	"github.com/marcopolo/simnet"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/node/internal/front"
)

// simulated has a host of a simulated network, and no front.
type simulated struct{ lib libp2phost.Host }

func (s simulated) host(_ context.Context, cfg host.Config) (*host.Host, error) {
	return host.NewWith(s.lib, cfg)
}

func (simulated) front(front.Config, *slog.Logger) (*front.Front, error) { return &front.Front{}, nil }

// TestPeersInVirtualTime runs whole peers, their stores included, over a
// simulated network: two groups on one ring, whose manager vanishes.
func TestPeersInVirtualTime(t *testing.T) {
	const refresh = 10 * time.Second
	synctest.Test(t, func(t *testing.T) {
		link := simnet.LinkSettings{BitsPerSecond: 20 * simlibp2p.OneMbps}
		network, meta, err := simlibp2p.SimpleLibp2pNetwork([]simlibp2p.NodeLinkSettingsAndCount{{
			LinkSettings: simnet.NodeBiDiLinkSettings{Downlink: link, Uplink: link}, Count: 6,
		}}, simnet.StaticLatency(20*time.Millisecond), simlibp2p.NetworkSettings{})
		check(t, err)
		network.Start()
		defer network.Close()
		var nodes []*Node
		for i, lib := range meta.Nodes {
			theme := testTheme
			if i >= 4 {
				theme = "sport"
			}
			cfg := Default()
			cfg.Data, cfg.Network, cfg.HTTP, cfg.Logger = t.TempDir(), "test", "off", quiet
			cfg.Refresh, cfg.Interval = refresh, time.Hour
			provider := feedring.Provider(fmt.Sprintf("p%d.example", i))
			cfg.Feeds = []feedring.FeedSpec{{URL: "http://127.0.0.1:1/" + string(provider), Theme: theme, Provider: provider}}
			if i > 0 {
				cfg.Join = nodes[0].host.Addrs()[:1]
			}
			n, err := start(t.Context(), cfg, simulated{lib})
			check(t, err)
			nodes = append(nodes, n)
		}
		defer func() {
			var closing sync.WaitGroup
			for _, n := range nodes {
				closing.Go(func() { kill(n) })
			}
			closing.Wait()
			synctest.Wait()
		}()
		within(t, 2*time.Minute, "two groups on the ring", func() bool {
			for i, n := range nodes {
				v := n.loop.View()
				c, want := v.Groups[n.cfg.Feeds[0].Theme], 4
				if i >= 4 {
					want = 2
				}
				if len(c.Peers) != want || c.Manager == "" || c.Secondary == "" || len(v.Ring) != 2 {
					return false
				}
			}
			return true
		})
		time.Sleep(2 * time.Minute) // all are old enough to lead
		check(t, nodes[2].testPublish(1, 20))
		within(t, 5*time.Second, "20 entries everywhere", func() bool { return held(nodes[:4], 20) })

		manager := nodes[0].loop.View().Groups[testTheme].Manager
		var left []*Node
		for _, n := range nodes[:4] {
			if n.ID() == manager {
				kill(n)
			} else {
				left = append(left, n)
			}
		}
		took := within(t, 3*refresh, "a new manager", func() bool {
			next := left[0].loop.View().Groups[testTheme].Manager
			for _, n := range left {
				if m := n.loop.View().Groups[testTheme].Manager; m == manager || m != next {
					return false
				}
			}
			return true
		})
		if took > refresh*13/10 {
			t.Errorf("taken over after %s", took)
		}
		check(t, left[0].testPublish(21, 40))
		within(t, 2*refresh, "40 entries everywhere", func() bool { return held(left, 40) })
		time.Sleep(2 * time.Minute)
		next := left[0].loop.View().Groups[testTheme]
		if len(next.Peers) > 4 || next.Secondary == "" || next.Secondary == manager {
			t.Errorf("the group is %+v", next)
		}
	})
}

// within waits in virtual time.
func within(t *testing.T, most time.Duration, what string, is func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !is() {
		if time.Since(began) > most {
			t.Fatalf("not within %s: %s", most, what)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return time.Since(began)
}

func held(nodes []*Node, count int) bool {
	for _, n := range nodes {
		all := 0
		for _, h := range n.store.Heads() {
			all += h.Count
		}
		if all < count {
			return false
		}
	}
	return true
}
