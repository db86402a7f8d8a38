package host

import (
	"sync"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
)

// reach is what others told about how this host is reached.
type reach struct {
	mu                             sync.Mutex
	general                        network.Reachability
	reachable, unreachable, untold []ma.Multiaddr
	relays                         []ma.Multiaddr
	hard                           bool // a NAT that gives each destination another port
	known                          bool // the kind of NAT was found out
}

func (r *reach) note(e any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := e.(type) {
	case event.EvtLocalReachabilityChanged:
		r.general = e.Reachability
	case event.EvtHostReachableAddrsChanged:
		r.reachable, r.unreachable, r.untold = e.Reachable, e.Unreachable, e.Unknown
	case event.EvtNATDeviceTypeChanged:
		if e.TransportProtocol == network.NATTransportUDP {
			r.known, r.hard = true, e.NatDeviceType == network.NATDeviceTypeEndpointDependent
		}
	case event.EvtAutoRelayAddrsUpdated:
		r.relays = e.RelayAddrs
	}
}

// Reachability is how a host is reached from outside, as far as other peers
// found out. All is empty and "unknown" until a few were met.
type Reachability struct {
	// Local: only this machine is listened to, and nobody outside is asked.
	Local bool `json:"local"`
	// Status is "public", "private" or "unknown".
	Status      string   `json:"status"`
	Reachable   []string `json:"reachable,omitempty"`   // dialled back by others (AutoNAT v2)
	Unreachable []string `json:"unreachable,omitempty"` // tried by others in vain
	Untested    []string `json:"untested,omitempty"`
	Relays      []string `json:"relays,omitempty"` // addresses at relays that took this peer
	// HolePunching is "possible", "impossible" (a NAT that gives each
	// destination another port) or "unknown".
	HolePunching string `json:"hole_punching"`
}

// Reachability returns what is known now. It asks nobody.
func (h *Host) Reachability() Reachability {
	r := &h.reach
	r.mu.Lock()
	defer r.mu.Unlock()
	out := Reachability{
		Local: !h.reachesOut(), Status: "unknown", HolePunching: "unknown",
		Reachable: h.complete(r.reachable), Unreachable: h.complete(r.unreachable),
		Untested: h.complete(r.untold), Relays: h.complete(r.relays),
	}
	switch r.general {
	case network.ReachabilityPublic:
		out.Status = "public"
	case network.ReachabilityPrivate:
		out.Status = "private"
	}
	if len(r.reachable) > 0 {
		out.Status = "public"
	}
	if r.known && r.hard {
		out.HolePunching = "impossible"
	} else if r.known {
		out.HolePunching = "possible"
	}
	return out
}
