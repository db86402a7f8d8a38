package limits

import (
	"testing"

	"github.com/libp2p/go-libp2p"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
)

// TestServiceLimitsAreLibp2ps compares the limits of libp2p's own services with
// what libp2p sets for them. Memory for one peer is left out: libp2p's own is
// gigabytes for some of them.
func TestServiceLimitsAreLibp2ps(t *testing.T) {
	var want, got rcmgr.ScalingLimitConfig
	libp2p.SetDefaultServiceLimits(&want)
	serviceLimits(&got)
	for name, l := range want.ServiceLimits {
		if got.ServiceLimits[name] != l {
			t.Errorf("service %s: %+v, libp2p has %+v", name, got.ServiceLimits[name], l)
		}
	}
	for id, l := range want.ProtocolLimits {
		if got.ProtocolLimits[id] != l {
			t.Errorf("protocol %s: %+v, libp2p has %+v", id, got.ProtocolLimits[id], l)
		}
	}
	for name, l := range want.ServicePeerLimits {
		mine := got.ServicePeerLimits[name]
		mine.BaseLimit.Memory = l.BaseLimit.Memory
		if mine != l {
			t.Errorf("service %s, one peer: %+v, libp2p has %+v", name, mine, l)
		}
	}
	for id, l := range want.ProtocolPeerLimits {
		mine := got.ProtocolPeerLimits[id]
		mine.BaseLimit.Memory = l.BaseLimit.Memory
		if mine != l {
			t.Errorf("protocol %s, one peer: %+v, libp2p has %+v", id, mine, l)
		}
	}
}
