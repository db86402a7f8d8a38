package host

import (
	"fmt"
	"slices"
	"time"

	"github.com/feedring/feedring/internal/host/addr"
	"github.com/feedring/feedring/internal/host/dials"
	"github.com/feedring/feedring/internal/host/limits"
	"github.com/libp2p/go-libp2p/config"
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/pnet"
	"github.com/libp2p/go-libp2p/core/transport"
	basichost "github.com/libp2p/go-libp2p/p2p/host/basic"
	"github.com/libp2p/go-libp2p/p2p/host/peerstore/pstoremem"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/p2p/net/upgrader"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	"github.com/libp2p/go-libp2p/p2p/protocol/holepunch"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	quic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/quicreuse"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/p2p/transport/tcpreuse"
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
	resources, err := limits.ResourceManager()
	if err != nil {
		return nil, err
	}
	conns, err := limits.ConnManager(h.cfg.Client)
	if err != nil {
		return nil, err
	}
	c := &config.Config{
		PeerKey:            key,
		Peerstore:          book,
		UserAgent:          userAgent,
		ProtocolVersion:    h.version(),
		Transports:         []fx.Option{transported(h.newQUIC), transported(h.newTCP)},
		SecurityTransports: []config.Security{{ID: noise.ID, Constructor: noise.New}},
		Muxers:             []upgrader.StreamMuxer{{ID: yamux.ID, Muxer: yamux.DefaultTransport}},
		ResourceManager:    resources,
		ConnManager:        conns,
		ConnectionGater:    h.gater,
		AddrsFactory:       h.announced,
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

func (h *Host) newQUIC(
	key crypto.PrivKey, conns *quicreuse.ConnManager, psk pnet.PSK, gater connmgr.ConnectionGater, resources network.ResourceManager,
) (*dials.QUIC, error) {
	t, err := quic.NewTransport(key, conns, psk, gater, resources)
	if err != nil {
		return nil, fmt.Errorf("QUIC: %w", err)
	}
	return h.dials.CountQUIC(t), nil
}

func (h *Host) newTCP(upgrader transport.Upgrader, resources network.ResourceManager, shared *tcpreuse.ConnMgr) (*dials.TCP, error) {
	t, err := tcp.NewTCPTransport(upgrader, resources, shared)
	if err != nil {
		return nil, fmt.Errorf("TCP: %w", err)
	}
	return h.dials.CountTCP(t), nil
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
		if addr.KindOf(a) != addr.Loopback {
			return true
		}
	}
	return false
}

// outside is what lets a peer behind a NAT serve, and one that is not help
// others to.
func (h *Host) outside(c *config.Config) {
	c.EnableAutoNATv2 = true
	c.EnableHolePunching = true
	c.HolePunchingOptions = []holepunch.Option{h.takePuncher}
	// The relay service and AutoRelay go by one word that libp2p takes from the
	// first version of AutoNAT. It is silenced: reach.go says the word.
	unknown := network.ReachabilityUnknown
	c.AutoNATConfig.ForceReachability = &unknown
	c.EnableRelayService = true // only runs while publicly reachable
	c.RelayServiceOpts = []relay.Option{relay.WithResources(relayResources())}
	c.EnableAutoRelay = true // only runs while not
	c.AutoRelayOpts = h.autoRelay()
	if h.cfg.LAN && h.everyInterface() {
		c.NATManager = basichost.NewNATManager // asks the local network by multicast
	}
}

// everyInterface reports whether this host listens on every interface, so that
// a port mapping could help.
func (h *Host) everyInterface() bool { return slices.ContainsFunc(h.listen, manet.IsIPUnspecified) }
