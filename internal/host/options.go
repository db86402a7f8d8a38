package host

import (
	"context"
	"math/rand/v2"
	"net"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/host/autorelay"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	quic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

const (
	userAgent   = "feedring/1"
	dialTimeout = 10 * time.Second
)

// options is libp2p's configuration: QUIC and TCP with Noise and yamux, and
// nothing else, which halves memory and binary. Listening comes later, when
// the handlers are in place.
func (h *Host) options(key crypto.PrivKey) ([]libp2p.Option, error) {
	resources, err := resourceManager()
	if err != nil {
		return nil, err
	}
	conns, err := connManager(h.cfg.Client)
	if err != nil {
		return nil, err
	}
	opts := []libp2p.Option{
		libp2p.Identity(key),
		libp2p.UserAgent(userAgent),
		libp2p.ProtocolVersion(h.version()),
		libp2p.Transport(quic.NewTransport),
		libp2p.Transport(tcp.NewTCPTransport),
		libp2p.Security(noise.ID, noise.New),
		libp2p.Muxer(yamux.ID, yamux.DefaultTransport),
		libp2p.ResourceManager(resources),
		libp2p.ConnectionManager(conns),
		libp2p.ConnectionGater(h.gater),
		libp2p.AddrsFactory(h.told),
		libp2p.WithDialTimeout(dialTimeout),
		libp2p.DisableMetrics(),
		libp2p.NoListenAddrs,
		libp2p.EnableRelay(), // dialling through relays; after NoListenAddrs, which turns it off
	}
	if h.reachesOut() {
		opts = append(opts, h.outside()...)
	}
	return opts, nil
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
func (h *Host) outside() []libp2p.Option {
	opts := []libp2p.Option{
		libp2p.EnableAutoNATv2(),
		// The relay service and AutoRelay still go by the first version.
		libp2p.EnableNATService(),
		libp2p.EnableHolePunching(),
		libp2p.EnableRelayService(relay.WithResources(relayResources())), // only runs while publicly reachable
		libp2p.EnableAutoRelayWithPeerSource(h.relayCandidates,
			autorelay.WithNumRelays(2), autorelay.WithMinCandidates(1), autorelay.WithMaxCandidates(16),
			autorelay.WithMinInterval(30*time.Second), autorelay.WithBackoff(10*time.Minute)),
	}
	if h.behindRouter() {
		opts = append(opts, libp2p.NATPortMap())
	}
	return opts
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
