package host

import (
	"slices"
	"sync"

	"github.com/feedring/feedring/internal/host/addr"
	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	ma "github.com/multiformats/go-multiaddr"
)

// reach is what others told about how this host is reached.
type reach struct {
	relayMet chan struct{} // holds one: a relay was met

	mu                              sync.Mutex
	reachable, unreachable, unknown []ma.Multiaddr
	relays                          []ma.Multiaddr
	translated                      bool // somebody sees a public address that this machine does not have
	hard                            bool // a NAT that gives each destination another port
	known                           bool // the kind of NAT was found out

	word     event.Emitter        // what libp2p's relay service and AutoRelay go by; nil: they do not run
	lastSaid network.Reachability // last
}

func (r *reach) note(e any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := e.(type) {
	case event.EvtHostReachableAddrsChanged:
		r.reachable, r.unreachable, r.unknown = e.Reachable, e.Unreachable, e.Unknown
	case event.EvtNATDeviceTypeChanged:
		if e.TransportProtocol == network.NATTransportUDP {
			r.known, r.hard = true, e.NatDeviceType == network.NATDeviceTypeEndpointDependent
		}
	case event.EvtAutoRelayAddrsUpdated:
		r.relays = e.RelayAddrs
	}
}

// seen notes the address from which a peer sees this host.
func (h *Host) seen(observed ma.Multiaddr) {
	if observed == nil || addr.KindOf(observed) != addr.Public || !addr.IsIPv4(observed) || addr.IsRelayed(observed) {
		return
	}
	own := slices.ContainsFunc(h.interfaces(), addr.IsPublicIPv4)
	h.reach.mu.Lock()
	defer h.reach.mu.Unlock()
	h.reach.translated = !own
}

// interfaces returns the addresses that this machine listens on.
func (h *Host) interfaces() []ma.Multiaddr {
	addrs, err := h.lib.Network().InterfaceListenAddresses()
	if err != nil {
		h.log.Debug("interfaces", "err", err)
	}
	return addrs
}

// startReach begins to tell libp2p's relay service and AutoRelay whether this
// host is public.
func (h *Host) startReach() (err error) {
	if !h.reachesOut() {
		return nil
	}
	h.reach.mu.Lock()
	h.reach.word, err = h.lib.EventBus().Emitter(new(event.EvtLocalReachabilityChanged), eventbus.Stateful)
	h.reach.mu.Unlock()
	h.judge()
	return err
}

// judge decides whether this host is public, by AutoNAT v2 alone. The first
// version would say so only after fifteen seconds, and in a network whose other
// peers are all behind NATs never: those ask, and answer nobody.
//
// An IPv4 address of this machine, or one that a person announced, counts until
// others tried it in vain: a relay that is alone would never be found out. An
// IPv6 address does not: most home routers let nobody in, and peers without
// IPv6 cannot try it.
func (h *Host) judge() {
	presumed := slices.Clone(h.announce)
	for _, a := range h.interfaces() {
		if addr.IsPublicIPv4(a) {
			presumed = append(presumed, a)
		}
	}
	r := &h.reach
	r.mu.Lock()
	defer r.mu.Unlock()
	now := verdict(presumed, r.reachable, r.unreachable)
	if r.word == nil || now == r.lastSaid {
		return
	}
	r.lastSaid = now
	if err := r.word.Emit(event.EvtLocalReachabilityChanged{Reachability: now}); err != nil {
		h.log.Debug("reachability not told", "err", err)
	}
}

func verdict(presumed, reachable, unreachable []ma.Multiaddr) network.Reachability {
	inVain := func(a ma.Multiaddr) bool { return slices.ContainsFunc(unreachable, a.Equal) }
	presumed = slices.DeleteFunc(presumed, inVain)
	switch {
	case len(reachable) > 0 || len(presumed) > 0:
		return network.ReachabilityPublic
	case len(unreachable) > 0:
		return network.ReachabilityPrivate
	default:
		return network.ReachabilityUnknown
	}
}

// Reachability is how a host is reached from outside, as far as other peers
// found out. All is empty and "unknown" until a few were met.
type Reachability struct {
	// Local: only this machine is listened to, and nobody outside is asked.
	Local bool `json:"local"`
	// Status is "public" (others dialled back), "private" (they could not, or
	// they see an address that is not this machine's) or "unknown".
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
		Untested: h.complete(r.unknown), Relays: h.complete(r.relays),
	}
	switch {
	case len(r.reachable) > 0:
		out.Status = "public"
	case len(r.unreachable) > 0, r.translated && len(h.announce) == 0:
		out.Status = "private"
	}
	if r.known && r.hard {
		out.HolePunching = "impossible"
	} else if r.known {
		out.HolePunching = "possible"
	}
	return out
}
