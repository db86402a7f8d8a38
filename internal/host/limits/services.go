package limits

import (
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/host/autonat"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	circuit "github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/proto"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	"github.com/libp2p/go-libp2p/p2p/protocol/holepunch"
	"github.com/libp2p/go-libp2p/p2p/protocol/identify"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"
)

// service is what one of libp2p's own services may take: in all, more of it
// with the machine's memory, and for one peer.
type service struct {
	name      string // empty: only its protocols are bounded
	protocols []protocol.ID
	all, grow rcmgr.BaseLimit
	onePeer   rcmgr.BaseLimit
}

// streams is a limit on streams (inbound, outbound, both) and megabytes.
func streams(in, out, both int, mebibytes int64) rcmgr.BaseLimit {
	return rcmgr.BaseLimit{StreamsInbound: in, StreamsOutbound: out, Streams: both, Memory: mebibytes << 20}
}

// services are libp2p's own limits, which only its root package offers, and
// that links too much; TestServiceLimitsAreLibp2ps holds them against it.
func services() []service {
	return []service{
		{identify.ServiceName, []protocol.ID{identify.ID, identify.IDPush},
			streams(64, 64, 128, 4), streams(64, 64, 128, 4), streams(16, 16, 32, 1)},
		{ping.ServiceName, []protocol.ID{ping.ID},
			streams(64, 64, 64, 4), streams(64, 64, 64, 4), streams(2, 3, 4, 1)},
		{autonat.ServiceName, []protocol.ID{autonat.AutoNATProto},
			streams(64, 64, 64, 4), streams(4, 4, 4, 2), streams(2, 2, 2, 1)},
		{holepunch.ServiceName, []protocol.ID{holepunch.Protocol},
			streams(32, 32, 64, 4), streams(8, 8, 16, 4), streams(2, 2, 2, 1)},
		{relay.ServiceName, nil,
			streams(256, 256, 256, 16), streams(256, 256, 256, 16), streams(64, 64, 64, 1)},
		{"", []protocol.ID{circuit.ProtoIDv2Hop, circuit.ProtoIDv2Stop},
			streams(640, 640, 640, 16), streams(640, 640, 640, 16), streams(128, 128, 128, 32)},
	}
}

// serviceLimits adds them to limits.
func serviceLimits(limits *rcmgr.ScalingLimitConfig) {
	for _, s := range services() {
		grow := rcmgr.BaseLimitIncrease{
			StreamsInbound: s.grow.StreamsInbound, StreamsOutbound: s.grow.StreamsOutbound,
			Streams: s.grow.Streams, Memory: s.grow.Memory,
		}
		if s.name != "" {
			limits.AddServiceLimit(s.name, s.all, grow)
			limits.AddServicePeerLimit(s.name, s.onePeer, rcmgr.BaseLimitIncrease{})
		}
		for _, id := range s.protocols {
			limits.AddProtocolLimit(id, s.all, grow)
			limits.AddProtocolPeerLimit(id, s.onePeer, rcmgr.BaseLimitIncrease{})
		}
	}
}
