package host

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"github.com/libp2p/go-libp2p/config"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/host/autorelay"
	basichost "github.com/libp2p/go-libp2p/p2p/host/basic"
	"github.com/libp2p/go-libp2p/p2p/host/peerstore/pstoremem"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/p2p/net/upgrader"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	quic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"go.uber.org/fx"
)

const (
	userAgent   = "feedring/1"
	dialTimeout = 10 * time.Second
)

// assembly is libp2p's configuration: QUIC and TCP with Noise and yamux, and
// nothing else, which halves memory. Listening comes later, when the handlers
// are in place.
//
// It is written out, with no option of libp2p's root package: importing that
// links every transport there is (WebRTC, WebTransport, WebSocket), used or
// not: a tenth of the binary. TestAssemblyNeedsNoDefaults tells when an upgrade
// of libp2p wants something more.
func (h *Host) assembly(key crypto.PrivKey) (*config.Config, error) {
	book, err := pstoremem.NewPeerstore()
	if err != nil {
		return nil, fmt.Errorf("peerstore: %w", err)
	}
	resources, err := resourceManager()
	if err != nil {
		return nil, err
	}
	conns, err := connManager(h.cfg.Client)
	if err != nil {
		return nil, err
	}
	c := &config.Config{
		PeerKey:            key,
		Peerstore:          book,
		UserAgent:          userAgent,
		ProtocolVersion:    h.version(),
		Transports:         []fx.Option{transported(quic.NewTransport), transported(tcp.NewTCPTransport)},
		SecurityTransports: []config.Security{{ID: noise.ID, Constructor: noise.New}},
		Muxers:             []upgrader.StreamMuxer{{ID: yamux.ID, Muxer: yamux.DefaultTransport}},
		ResourceManager:    resources,
		ConnManager:        conns,
		ConnectionGater:    h.gater,
		AddrsFactory:       h.told,
		DialTimeout:        dialTimeout,
		DisableMetrics:     true,
		RelayCustom:        true,
		Relay:              true, // dialling through relays
		// As by default: where UDP or IPv6 never gets through it is tried seldom.
		UDPBlackHoleSuccessCounter:  &swarm.BlackHoleSuccessCounter{N: 100, MinSuccesses: 5, Name: "UDP"},
		IPv6BlackHoleSuccessCounter: &swarm.BlackHoleSuccessCounter{N: 100, MinSuccesses: 5, Name: "IPv6"},
	}
	if h.reachesOut() {
		h.outside(c)
	}
	return c, nil
}

// transported names a constructor as one of the host's transports.
func transported(constructor any) fx.Option {
	return fx.Provide(fx.Annotate(constructor, fx.As(new(transport.Transport)), fx.ResultTags(`group:"transport"`)))
}

// reachesOut reports whether this host may be reached from outside this
// machine, so that asking outside makes sense.
func (h *Host) reachesOut() bool {
	if h.cfg.Client {
		return false
	}
	for _, a := range h.listen {
		if kindOf(a) != kindLoopback {
			return true
		}
	}
	return false
}

// outside is what lets a peer behind a NAT serve, and one that is not help
// others to.
func (h *Host) outside(c *config.Config) {
	c.EnableAutoNATv2 = true
	c.AutoNATConfig.EnableService = true // the relay service and AutoRelay still go by the first version
	c.EnableHolePunching = true
	c.EnableRelayService = true // only runs while publicly reachable
	c.RelayServiceOpts = []relay.Option{relay.WithResources(relayResources())}
	c.EnableAutoRelay = true
	c.AutoRelayOpts = []autorelay.Option{
		autorelay.WithPeerSource(h.relayCandidates),
		autorelay.WithNumRelays(2), autorelay.WithMinCandidates(1), autorelay.WithMaxCandidates(16),
		autorelay.WithMinInterval(30 * time.Second), autorelay.WithBackoff(10 * time.Minute),
	}
	if h.behindRouter() {
		c.NATManager = basichost.NewNATManager
	}
}

// relayResources bounds what this peer carries for others: enough for a
// follower to live on a relay for a while, too little to be a free proxy.
func relayResources() relay.Resources {
	r := relay.DefaultResources()
	r.Limit = &relay.RelayLimit{Duration: 15 * time.Minute, Data: 16 << 20}
	r.MaxReservations, r.MaxCircuits = 64, 16
	r.MaxReservationsPerIP, r.MaxReservationsPerASN = 32, 64
	return r
}

// behindRouter reports whether a port mapping could help: listening on every
// interface, and no interface has a public address. A server at a hoster asks
// nobody.
func (h *Host) behindRouter() bool {
	every := false
	for _, a := range h.listen {
		every = every || manet.IsIPUnspecified(a)
	}
	if !every {
		return false
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range addrs {
		if m, err := manet.FromNetAddr(a); err == nil && kindOf(m) == kindPublic && m[0].Protocol().Code == ma.P_IP4 {
			return false
		}
	}
	return true
}

// relayCandidates gives peers of this network that are connected directly.
// AutoRelay finds out itself which of them are relays.
func (h *Host) relayCandidates(_ context.Context, num int) <-chan peer.AddrInfo {
	found := make(chan peer.AddrInfo, num)
	defer close(found)
	ids := h.members.servers()
	rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for _, id := range ids {
		if len(found) == num {
			break
		}
		if h.lib.Network().Connectedness(id) == network.Connected {
			found <- peer.AddrInfo{ID: id, Addrs: h.dialable(id)}
		}
	}
	return found
}
