package host

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/host/autorelay"
	circuit "github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/proto"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
)

const (
	wantedRelays    = 2 // one may go away
	relayCandidates = 16
	relayAgain      = 10 * time.Second // between looks for more, which ask nobody
	relayBackoff    = 10 * time.Minute // after a relay refused
)

// relayResources bounds what this peer carries for others: enough for a
// follower to live on a relay for a while, too little to be a free proxy.
func relayResources() relay.Resources {
	r := relay.DefaultResources()
	r.Limit = &relay.RelayLimit{Duration: 15 * time.Minute, Data: 16 << 20}
	r.MaxReservations, r.MaxCircuits = 64, 16
	r.MaxReservationsPerIP, r.MaxReservationsPerASN = 32, 64
	return r
}

func (h *Host) autoRelay() []autorelay.Option {
	return []autorelay.Option{
		autorelay.WithPeerSource(h.relaySource),
		autorelay.WithNumRelays(wantedRelays),
		autorelay.WithMinCandidates(1), autorelay.WithMaxCandidates(relayCandidates), // the first is good: peers wait
		autorelay.WithMinInterval(relayAgain), autorelay.WithBackoff(relayBackoff),
	}
}

// relaySource gives AutoRelay peers of this network that are connected directly
// and relay. While there are none it waits for the first: a source that ends
// is asked again only later, and meanwhile this peer could not serve.
func (h *Host) relaySource(ctx context.Context, num int) <-chan peer.AddrInfo {
	found := make(chan peer.AddrInfo, num)
	go func() {
		defer close(found)
		for wake := h.started; ; wake = h.reach.relayMet {
			select {
			case <-wake:
			case <-ctx.Done():
				return
			case <-h.ctx.Done():
				return
			}
			relays := h.relays(num)
			for _, id := range relays {
				found <- peer.AddrInfo{ID: id, Addrs: h.dialable(id)}
			}
			if len(relays) > 0 {
				return
			}
		}
	}()
	return found
}

// relays returns connected relays in an order by chance, at most num.
func (h *Host) relays(num int) []peer.ID {
	ids := slices.DeleteFunc(h.members.Servers(), func(id peer.ID) bool {
		spoken, err := h.lib.Peerstore().SupportsProtocols(id, circuit.ProtoIDv2Hop)
		return err != nil || len(spoken) == 0 || h.lib.Network().Connectedness(id) != network.Connected
	})
	rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids[:min(len(ids), num)]
}

// nudgeRelaySource says that a peer may have become a relay. It never blocks.
func (h *Host) nudgeRelaySource(protocols []protocol.ID) {
	if !slices.Contains(protocols, circuit.ProtoIDv2Hop) {
		return
	}
	select {
	case h.reach.relayMet <- struct{}{}:
	default:
	}
}
