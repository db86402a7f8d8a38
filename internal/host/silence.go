package host

import (
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/feedring/feedring"
)

// Silence closes all connections and allows none but those of Meet, until it is
// ended: another process has this host's id, and what others send to the id must
// reach that one, whichever connection they choose.
func (h *Host) Silence(on bool) {
	h.gater.Silence(on)
	if on {
		h.closeAll()
	}
}

// Meet lets a silent host connect with these peers, until end is called.
func (h *Host) Meet(peers []feedring.PeerID) (end func()) {
	if !h.gater.Meet(decoded(peers)) {
		return func() {}
	}
	return func() {
		if h.gater.Meet(nil) {
			h.closeAll()
		}
	}
}

func (h *Host) closeAll() {
	for _, id := range h.lib.Network().Peers() {
		_ = h.lib.Network().ClosePeer(id) // one that fails is closed already
	}
}

func decoded(peers []feedring.PeerID) map[peer.ID]bool {
	ids := make(map[peer.ID]bool, len(peers))
	for _, p := range peers {
		if id, err := peer.Decode(string(p)); err == nil {
			ids[id] = true
		}
	}
	return ids
}
