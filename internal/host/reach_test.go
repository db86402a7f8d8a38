package host

import (
	"slices"
	"testing"

	"github.com/feedring/feedring/internal/host/addr"
	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
)

func TestVerdict(t *testing.T) {
	a, b := ma.StringCast("/ip4/25.7.0.1/tcp/1"), ma.StringCast("/ip6/2606:4700::1/tcp/1")
	all := func(addrs ...ma.Multiaddr) []ma.Multiaddr { return addrs }
	for what, c := range map[string]struct {
		presumed, reachable, unreachable []ma.Multiaddr
		want                             network.Reachability
	}{
		"at home":                         {want: network.ReachabilityUnknown},
		"a server nobody tried yet":       {presumed: all(a), want: network.ReachabilityPublic},
		"a server behind a firewall":      {presumed: all(a), unreachable: all(a), want: network.ReachabilityPrivate},
		"a server, IPv6 alone blocked":    {presumed: all(a), unreachable: all(b), want: network.ReachabilityPublic},
		"at home, a port opened by hand":  {reachable: all(a), want: network.ReachabilityPublic},
		"at home, tried in vain":          {unreachable: all(a, b), want: network.ReachabilityPrivate},
		"behind a firewall, IPv6 gets in": {presumed: all(a), reachable: all(b), unreachable: all(a), want: network.ReachabilityPublic},
	} {
		if got := verdict(c.presumed, c.reachable, c.unreachable); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

// TestSeenFromOutside: who is seen under a public address that is not this
// machine's is behind a router, unless a person announced an address.
func TestSeenFromOutside(t *testing.T) {
	everywhere := func(c *Config) { c.Listen = []string{"/ip4/0.0.0.0/udp/0/quic-v1"} }
	h := newHost(t, everywhere)
	if slices.ContainsFunc(h.interfaces(), addr.IsPublicIPv4) {
		t.Skip("this machine has a public address")
	}
	for _, seen := range []string{"/ip4/192.168.1.1/tcp/1", "/ip6/2606:4700::1/tcp/1", "/ip4/25.7.0.1/tcp/1/p2p/" + string(h.ID()) + "/p2p-circuit"} {
		if h.seen(ma.StringCast(seen)); h.Reachability().Status != "unknown" {
			t.Errorf("seen as %s: %s", seen, h.Reachability().Status)
		}
	}
	if h.seen(ma.StringCast("/ip4/25.7.0.1/tcp/1")); h.Reachability().Status != "private" {
		t.Errorf("behind a router: %s", h.Reachability().Status)
	}
	told := newHost(t, everywhere, func(c *Config) { c.Announce = []string{"/ip4/25.7.0.1/tcp/1"} })
	if told.seen(ma.StringCast("/ip4/25.7.0.1/tcp/2")); told.Reachability().Status != "unknown" {
		t.Errorf("a person announced it: %s", told.Reachability().Status)
	}
}
