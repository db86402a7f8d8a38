package host

import (
	"slices"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/protocol/holepunch"
)

// libp2p tries to replace a relayed connection by a direct one once, when it
// comes. Each end takes part only from when others told it a public address of
// its own, up to a second after it met the first: peers that find each other
// sooner would stay on the relay for as long as it lets them. So the try is
// made again when either end becomes able to.

// takePuncher keeps the service that a host makes for itself.
func (h *Host) takePuncher(s *holepunch.Service) error {
	h.puncher = s
	return nil
}

// punchAll tries with everybody once this host is able to.
func (h *Host) punchAll(added []protocol.ID) {
	if !slices.Contains(added, holepunch.Protocol) {
		return
	}
	for _, id := range h.lib.Network().Peers() {
		h.punch(id)
	}
}

// punch tries to connect directly to a peer that came through a relay, in the
// background. Who came is called back, so that only one end tries.
func (h *Host) punch(id peer.ID) {
	if h.puncher == nil || h.lib.Network().Connectedness(id) != network.Limited || !h.came(id) ||
		!slices.Contains(h.lib.Mux().Protocols(), holepunch.Protocol) {
		return
	}
	if spoken, err := h.lib.Peerstore().SupportsProtocols(id, holepunch.Protocol); err != nil || len(spoken) == 0 {
		return
	}
	h.background(func() {
		if err := h.puncher.DirectConnect(id); err != nil {
			h.log.Debug("no direct connection", "peer", id, "err", err)
		}
	})
}

// came reports whether a peer connected to this host.
func (h *Host) came(id peer.ID) bool {
	return slices.ContainsFunc(h.lib.Network().ConnsToPeer(id), func(c network.Conn) bool {
		return c.Stat().Direction == network.DirInbound
	})
}
