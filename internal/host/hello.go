package host

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
)

// Door decides who is served on a network with a charter.
type Door interface {
	// Admits reports whether a peer is served now.
	Admits(feedring.PeerID) bool
	// Greet speaks on a stream of the verb hello that this host opened. After nil both
	// sides admit each other.
	Greet(ctx context.Context, to feedring.PeerID, s network.Stream) error
}

const (
	// helloWithin is how long a connection stays without a hello, and how long one may take.
	helloWithin = 5 * time.Second
	// greetAgain is how long a peer that refused is not greeted again.
	greetAgain = time.Second
)

// greetings are the hellos of this host's connections. Nothing is kept on an open network.
type greetings struct {
	mu    sync.Mutex
	under map[peer.ID]*greeting // way, or failed a moment ago
	done  map[peer.ID]bool      // with whom, while connected
}

type greeting struct {
	ended chan struct{}
	at    time.Time // when it ended
	err   error
}

// greet says hello to a connected peer, or one that can be dialled, once for a
// connection.
func (h *Host) greet(ctx context.Context, id peer.ID) error {
	if h.cfg.Door == nil || h.greeted(id) {
		return nil
	}
	h.greetings.mu.Lock()
	g := h.greetings.under[id]
	if g == nil || !g.at.IsZero() && time.Since(g.at) >= greetAgain {
		g = &greeting{ended: make(chan struct{})}
		h.greetings.under[id] = g
		h.background(func() { h.doGreet(id, g) })
	}
	h.greetings.mu.Unlock()
	select {
	case <-g.ended:
		return g.err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrUnreachable, ctx.Err())
	case <-h.ctx.Done():
		return fmt.Errorf("%w: %w", ErrUnreachable, h.ctx.Err())
	}
}

func (h *Host) doGreet(id peer.ID, g *greeting) {
	ctx, cancel := context.WithTimeout(h.ctx, helloWithin)
	defer cancel()
	to := feedring.PeerID(id.String())
	s, err := h.open(ctx, id, wire.VerbHello)
	if err == nil {
		stop := context.AfterFunc(ctx, func() { _ = s.Reset() })
		err = h.cfg.Door.Greet(ctx, to, s)
		stop()
		_ = s.Close()
	}
	if err == nil {
		h.Welcome(to)
	}
	h.greetings.mu.Lock()
	defer h.greetings.mu.Unlock()
	g.err, g.at = err, time.Now()
	if err == nil {
		delete(h.greetings.under, id)
	} else if len(h.greetings.under) > maxLooked {
		clear(h.greetings.under)
	}
	close(g.ended)
}

func (h *Host) greeted(id peer.ID) bool {
	h.greetings.mu.Lock()
	defer h.greetings.mu.Unlock()
	return h.greetings.done[id]
}

// Welcome notes that a connected peer and this one admit each other.
func (h *Host) Welcome(p feedring.PeerID) {
	id, err := peer.Decode(string(p))
	if err != nil || h.cfg.Door == nil {
		return
	}
	h.greetings.mu.Lock()
	fresh := h.connected(id) && !h.greetings.done[id]
	if fresh {
		h.greetings.done[id] = true
	}
	h.greetings.mu.Unlock()
	if !fresh {
		return
	}
	agent := ""
	if v, err := h.lib.Peerstore().Get(id, "AgentVersion"); err == nil {
		agent, _ = v.(string)
	}
	h.members.Gained(id, agent)
	if p, err := h.lib.Peerstore().FirstSupportedProtocol(id, h.directoryProtocol()); err == nil && p != "" {
		h.members.Serves(id)
		h.admitToDirectory(id)
	}
}

// welcome reports whether a peer may count as one of this network.
func (h *Host) welcome(id peer.ID) bool {
	return h.cfg.Door == nil || h.cfg.Door.Admits(feedring.PeerID(id.String()))
}

// admitToDirectory puts a peer into the address book's table: when libp2p told of it,
// it had not shown that it belongs to the network.
func (h *Host) admitToDirectory(id peer.ID) {
	if _, err := h.dht.RoutingTable().TryAddPeer(id, true, true); err != nil {
		h.log.Debug("no place in the address book's table", "peer", id, "err", err)
	}
}

// Welcomed returns the connected peers with which a hello was exchanged.
func (h *Host) Welcomed() (peers []feedring.PeerID) {
	h.greetings.mu.Lock()
	defer h.greetings.mu.Unlock()
	for id := range h.greetings.done {
		peers = append(peers, feedring.PeerID(id.String()))
	}
	return peers
}

// Part ends the connections with a peer.
func (h *Host) Part(p feedring.PeerID) {
	if id, err := peer.Decode(string(p)); err == nil {
		h.forgetGreeting(id)
		_ = h.lib.Network().ClosePeer(id)
		h.dht.RoutingTable().RemovePeer(id)
	}
}

func (h *Host) forgetGreeting(id peer.ID) {
	h.greetings.mu.Lock()
	defer h.greetings.mu.Unlock()
	delete(h.greetings.done, id)
}

// awaitHello says hello on a connection that this host made, and ends one on which
// nobody showed in time that both belong to the network.
func (h *Host) awaitHello(c network.Conn) {
	if h.cfg.Door == nil {
		return
	}
	id := c.RemotePeer()
	if c.Stat().Direction == network.DirOutbound {
		h.background(func() { _ = h.greet(h.ctx, id) })
	}
	h.background(func() {
		late := time.NewTimer(helloWithin)
		defer late.Stop()
		select {
		case <-h.ctx.Done():
			return
		case <-late.C:
		}
		if !h.admits(id) {
			_ = c.Close()
		}
	})
}

// admits reports whether a peer is served. The first stream of a peer may overtake
// its hello.
func (h *Host) admits(id peer.ID) bool {
	if h.cfg.Door == nil || h.cfg.Door.Admits(feedring.PeerID(id.String())) {
		return true
	}
	h.greetings.mu.Lock()
	g := h.greetings.under[id]
	h.greetings.mu.Unlock()
	if g == nil {
		return false
	}
	select {
	case <-g.ended:
	case <-h.ctx.Done():
	}
	return h.cfg.Door.Admits(feedring.PeerID(id.String()))
}

// gated is a libp2p host that the address book uses on a network with a charter: it
// serves whom the door admits, and asks nobody else.
type gated struct {
	host.Host
	h *Host
}

// SetStreamHandler implements host.Host.
func (g gated) SetStreamHandler(p protocol.ID, f network.StreamHandler) {
	g.Host.SetStreamHandler(p, func(s network.Stream) {
		if !g.h.admits(s.Conn().RemotePeer()) {
			_ = s.Reset()
			return
		}
		f(s)
	})
}

// NewStream implements host.Host.
func (g gated) NewStream(ctx context.Context, id peer.ID, protocols ...protocol.ID) (network.Stream, error) {
	if err := g.h.greet(ctx, id); err != nil {
		return nil, err
	}
	return g.Host.NewStream(ctx, id, protocols...)
}
