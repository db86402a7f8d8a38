// Package limits bounds what a host's connections and streams may take.
package limits

import (
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/net/connmgr"
	"github.com/libp2p/go-libp2p/p2p/protocol/identify"
	"github.com/libp2p/go-libp2p/x/rate"
)

// Limits of one host. libp2p's own are made for a desktop in a network of
// strangers: 8 connections from one address and one new one in five seconds,
// so that readers behind one NAT would be refused.
const (
	lowConns, highConns     = 1600, 2400 // the connection manager trims from high to low
	maxConns                = 4096
	ConnsPerAddress         = 256 // an IPv4 address or IPv6 /56: thirty peers that dial both ways by both transports, and room
	connsPerIPv6Site        = 1024
	newConnsPerAddress      = 50  // a second
	newConnsBurst           = 256 // at once
	connsPerPeer            = 8
	streamsPerPeer          = 1024 // all protocols
	StreamsPerPeerProtocol  = 512
	maxStreams              = 32768
	memoryReserved          = 512 << 20 // windows and buffers that libp2p may reserve
	clientLow, clientHigh   = 48, 96
	connGrace, connSilence  = 30 * time.Second, 30 * time.Second
	identifyStreams         = 4096
	transientConns, waiting = 2048, 4096
	forDials                = 8 // a part of all connections, and of those in a handshake, that nobody who connects can take
)

var loopbacks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// ResourceManager refuses connections and streams beyond the limits.
func ResourceManager() (network.ResourceManager, error) {
	m, err := rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(limits()),
		rcmgr.WithLimitPerSubnet(
			[]rcmgr.ConnLimitPerSubnet{{PrefixLength: 32, ConnCount: ConnsPerAddress}},
			[]rcmgr.ConnLimitPerSubnet{
				{PrefixLength: 56, ConnCount: ConnsPerAddress},
				{PrefixLength: 48, ConnCount: connsPerIPv6Site},
			}),
		rcmgr.WithNetworkPrefixLimit(
			[]rcmgr.NetworkPrefixLimit{{Network: loopbacks[0], ConnCount: math.MaxInt}},
			[]rcmgr.NetworkPrefixLimit{{Network: loopbacks[1], ConnCount: math.MaxInt}}),
		rcmgr.WithConnRateLimiters(connRates()))
	if err != nil {
		return nil, fmt.Errorf("resource manager: %w", err)
	}
	return m, nil
}

func limits() rcmgr.ConcreteLimitConfig {
	scaling := rcmgr.DefaultLimits
	serviceLimits(&scaling)
	all := rcmgr.ResourceLimits{Streams: maxStreams, StreamsInbound: maxStreams, StreamsOutbound: maxStreams, Memory: memoryReserved}
	onePeer := rcmgr.ResourceLimits{Streams: StreamsPerPeerProtocol, StreamsInbound: StreamsPerPeerProtocol, StreamsOutbound: StreamsPerPeerProtocol, Memory: 64 << 20}
	says := rcmgr.ResourceLimits{Streams: identifyStreams, StreamsInbound: identifyStreams, StreamsOutbound: identifyStreams, Memory: 64 << 20}
	system := all
	system.Conns, system.ConnsInbound, system.ConnsOutbound = maxConns, maxConns-maxConns/forDials, maxConns
	custom := rcmgr.PartialLimitConfig{
		System: system,
		Transient: rcmgr.ResourceLimits{
			Conns: transientConns, ConnsInbound: transientConns - transientConns/forDials, ConnsOutbound: transientConns,
			Streams: waiting, StreamsInbound: waiting, StreamsOutbound: waiting, Memory: 128 << 20,
		},
		PeerDefault: rcmgr.ResourceLimits{
			Conns: connsPerPeer, ConnsInbound: connsPerPeer, ConnsOutbound: connsPerPeer,
			Streams: streamsPerPeer, StreamsInbound: streamsPerPeer, StreamsOutbound: streamsPerPeer, Memory: 128 << 20,
		},
		ProtocolDefault: all, ServiceDefault: all,
		ProtocolPeerDefault: onePeer, ServicePeerDefault: onePeer,
		// Everybody who connects says once what it speaks: a thousand clients
		// at once must all be heard.
		Service: map[string]rcmgr.ResourceLimits{identify.ServiceName: says},
	}
	custom.Protocol = map[protocol.ID]rcmgr.ResourceLimits{identify.ID: says, identify.IDPush: says}
	return custom.Build(scaling.AutoScale())
}

func connRates() *rate.Limiter {
	address := rate.Limit{RPS: newConnsPerAddress, Burst: newConnsBurst}
	return &rate.Limiter{
		// A limit without a rate is no limit.
		NetworkPrefixLimits: []rate.PrefixLimit{{Prefix: loopbacks[0]}, {Prefix: loopbacks[1]}},
		SubnetRateLimiter: rate.SubnetLimiter{
			IPv4SubnetLimits: []rate.SubnetLimit{{PrefixLength: 32, Limit: address}},
			IPv6SubnetLimits: []rate.SubnetLimit{
				{PrefixLength: 56, Limit: address},
				{PrefixLength: 48, Limit: rate.Limit{RPS: 4 * newConnsPerAddress, Burst: 4 * newConnsBurst}},
			},
			GracePeriod: time.Minute,
		},
	}
}

// ConnManager closes the least useful connections when there are many.
func ConnManager(client bool) (*connmgr.BasicConnMgr, error) {
	low, high := lowConns, highConns
	if client {
		low, high = clientLow, clientHigh
	}
	m, err := connmgr.NewConnManager(low, high, connmgr.WithGracePeriod(connGrace), connmgr.WithSilencePeriod(connSilence))
	if err != nil {
		return nil, fmt.Errorf("connection manager: %w", err)
	}
	return m, nil
}
