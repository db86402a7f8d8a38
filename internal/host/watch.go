package host

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/standing"
)

// watch follows libp2p's events. They are only noted here: who emits them
// waits for us.
func (h *Host) watch() error {
	sub, err := h.lib.EventBus().Subscribe([]any{
		new(event.EvtPeerIdentificationCompleted), new(event.EvtPeerProtocolsUpdated),
		new(event.EvtPeerConnectednessChanged), new(event.EvtLocalProtocolsUpdated),
		new(event.EvtLocalAddressesUpdated), new(event.EvtHostReachableAddrsChanged),
		new(event.EvtNATDeviceTypeChanged), new(event.EvtAutoRelayAddrsUpdated),
	}, eventbus.Name("feedring"), eventbus.BufSize(1024))
	if err != nil {
		return fmt.Errorf("network events: %w", err)
	}
	h.background(func() {
		defer func() { _ = sub.Close() }()
		for {
			select {
			case <-h.ctx.Done():
				return
			case e, ok := <-sub.Out():
				if !ok {
					return
				}
				h.note(e)
			}
		}
	})
	h.background(func() { h.members.Run(h.ctx, h.cfg.Observer) })
	h.background(h.watchAddresses)
	return nil
}

func (h *Host) note(e any) {
	switch e := e.(type) {
	case event.EvtPeerIdentificationCompleted:
		h.identified(e)
	case event.EvtPeerProtocolsUpdated:
		if slices.Contains(e.Added, h.directoryProtocol()) {
			h.members.Serves(e.Peer)
		}
		h.nudgeRelaySource(e.Added)
		h.punch(e.Peer)
	case event.EvtLocalProtocolsUpdated:
		h.punchAll(e.Added)
	case event.EvtPeerConnectednessChanged:
		if !h.connected(e.Peer) {
			h.forgetGreeting(e.Peer)
			h.members.Lost(e.Peer)
		}
	default:
		h.reach.note(e)
		h.judge()
		h.addresses.mayHaveMoved()
	}
}

// connected also counts a connection through a relay.
func (h *Host) connected(id peer.ID) bool {
	c := h.lib.Network().Connectedness(id)
	return c == network.Connected || c == network.Limited
}

// identified judges a peer by what it said. The version counts before the
// protocols: libp2p tells a protocol that was just added a little later.
func (h *Host) identified(e event.EvtPeerIdentificationCompleted) {
	if e.ProtocolVersion != h.version() && !slices.ContainsFunc(e.Protocols, h.ours) {
		h.repel(e.Peer)
		return
	}
	h.members.Gained(e.Peer, e.AgentVersion)
	if slices.Contains(e.Protocols, h.directoryProtocol()) {
		h.members.Serves(e.Peer)
	}
	h.seen(e.ObservedAddr)
	h.nudgeRelaySource(e.Protocols)
	h.punch(e.Peer)
}

// links is what a table of members asks a host.
type links struct{ *Host }

// Connected implements members.Network.
func (l links) Connected(id peer.ID) bool { return l.connected(id) }

// Welcome implements members.Network.
func (l links) Welcome(id peer.ID) bool { return l.welcome(id) }

// Met implements members.Network.
func (l links) Met(id peer.ID) {
	prefix := standing.Unmet
	if conns := l.lib.Network().ConnsToPeer(id); len(conns) > 0 {
		prefix = l.Prefix(conns[0])
	}
	l.met.Meet(id, prefix, time.Now(), l.connected)
	l.groups.Nudge()
}

func (h *Host) ours(p protocol.ID) bool { return strings.HasPrefix(string(p), string(h.prefix)) }

// PeerStatus is one connected peer of this network.
type PeerStatus struct {
	ID      feedring.PeerID `json:"peer"`
	Addr    string          `json:"addr"` // where it is connected from or to
	Inbound bool            `json:"inbound"`
	Relayed bool            `json:"relayed"`
	Client  bool            `json:"client"`
	Agent   string          `json:"agent,omitempty"`
	Since   time.Time       `json:"since"`
}

// Meets reports whether a peer of this network is connected that is no mere
// client.
func (h *Host) Meets() bool { return len(h.members.Servers()) > 0 }

// Peers returns the connected peers of this network, longest connected first.
func (h *Host) Peers() []PeerStatus {
	now := h.members.All()
	out := make([]PeerStatus, 0, len(now))
	for id, m := range now {
		s := PeerStatus{ID: feedring.PeerID(id.String()), Client: !m.Server, Agent: m.Agent, Since: m.Since}
		if conns := h.lib.Network().ConnsToPeer(id); len(conns) > 0 {
			stat := conns[0].Stat()
			s.Addr, s.Inbound, s.Relayed = conns[0].RemoteMultiaddr().String(), stat.Direction == network.DirInbound, stat.Limited
		}
		out = append(out, s)
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := &out[i], &out[j]
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(string(a.ID), string(b.ID))) < 0
	})
	return out
}
