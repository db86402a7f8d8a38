package host

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/feedring/feedring/internal/wire"
)

// partAfter is how long a peer of another network stays connected, so that it
// is told, too, which network this is: else its own error would be about a lost
// connection.
const partAfter = 500 * time.Millisecond

// ForeignError is an ErrForeign of a peer that said what it speaks.
type ForeignError struct {
	Speaks string // a network; empty: it speaks none of feedring's
	Own    string // this host's network
}

// Error names both networks, where the other side speaks one at all.
func (e *ForeignError) Error() string {
	if e.Speaks == "" {
		return "it speaks no network of feedring"
	}
	return fmt.Sprintf("it speaks the network %q, not %q", e.Speaks, e.Own)
}

// Is makes a ForeignError an ErrForeign.
func (e *ForeignError) Is(target error) bool { return target == ErrForeign }

// foreign returns a *ForeignError for a peer that told what it speaks, and not
// this network; else nil.
func (h *Host) foreign(id peer.ID) error {
	if h.speaks(id) {
		return nil
	}
	version, err := h.lib.Peerstore().Get(id, "ProtocolVersion")
	if err != nil {
		return nil // it has not told
	}
	said, _ := version.(string)
	ids := []string{"/" + said + "/"}
	protocols, _ := h.lib.Peerstore().GetProtocols(id) // none is no error
	for _, p := range protocols {
		ids = append(ids, string(p))
	}
	e := &ForeignError{Own: h.cfg.Network}
	for _, id := range ids {
		rest, ours := strings.CutPrefix(id, "/feedring/")
		name, _, more := strings.Cut(rest, "/")
		switch {
		case !ours || !more || wire.CheckNetwork(name) != nil:
		case name == h.cfg.Network:
			return nil
		default:
			e.Speaks = name
		}
	}
	return e
}

// repel parts from a peer of another network, or of none.
func (h *Host) repel(id peer.ID) {
	h.log.Debug("peer of another network", "peer", id)
	h.gater.Refuse(id)
	h.met.Forget(id)
	h.background(func() {
		told, cancel := context.WithTimeout(h.ctx, partAfter)
		defer cancel()
		<-told.Done()
		_ = h.lib.Network().ClosePeer(id)
		h.lib.Peerstore().ClearAddrs(id)
	})
}
