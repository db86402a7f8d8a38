package host

import (
	"context"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/feedring/feedring"
)

// Suspect asks the other end of every connection to a peer for a sign of life,
// and closes those that give none, in the background. It is cheap to call often.
func (h *Host) Suspect(to feedring.PeerID) {
	if id, err := peer.Decode(string(to)); err == nil {
		h.suspects.Ask(h.lib.Network(), id)
	}
}

// newcomer suspects the older connections of a peer that connects once more:
// it may have started anew.
func (h *Host) newcomer(n network.Network, c network.Conn) {
	h.proves(n, c)
	h.awaitHello(c)
	if len(h.lib.Network().ConnsToPeer(c.RemotePeer())) > 1 {
		h.suspects.Ask(h.lib.Network(), c.RemotePeer())
	}
}

// tasks run in the background of a host.
type tasks struct{ h *Host }

// Run implements suspect.Tasks.
func (t tasks) Run(f func(context.Context)) { t.h.background(func() { f(t.h.ctx) }) }
