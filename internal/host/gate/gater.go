// Package gate decides which connections a host makes and accepts.
package gate

import (
	"net/netip"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/addr"
	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

const (
	foreignFor = time.Minute // a peer may be restarted into this network
	maxForeign = 4096
)

// Blocks tells whom the owner of this host blocks.
type Blocks interface {
	RefusePeer(feedring.PeerID) bool
	RefusePeerAt(feedring.PeerID, netip.Addr) bool
	RefuseCaller(netip.Addr) bool // before it is known who calls
}

// Dials tells which addresses may be dialled now, by what they cost.
type Dials interface {
	May(peer.ID, ma.Multiaddr) bool
}

// Gater refuses to dial addresses outside the scope, and connections with
// peers that were seen to be of another network, or with all. It is safe for
// concurrent use.
type Gater struct {
	scope  *addr.Scope
	dials  Dials
	blocks Blocks // nil: nobody is blocked

	mu      sync.Mutex
	foreign map[peer.ID]time.Time // until when
	silent  bool
	met     map[peer.ID]bool // whom this host may dial while it is silent
}

// New lets through what a scope and dials allow, but for what is blocked.
func New(s *addr.Scope, d Dials, b Blocks) *Gater {
	return &Gater{scope: s, dials: d, blocks: b, foreign: make(map[peer.ID]time.Time)}
}

// Blocked reports whether the owner of this host blocks a peer, or an address: of a
// relayed connection, the relay's.
func (g *Gater) Blocked(id peer.ID, a ma.Multiaddr) bool {
	return g.blocksPeer(id) || g.blocksAt(id, a)
}

func (g *Gater) blocksPeer(id peer.ID) bool {
	return g.blocks != nil && g.blocks.RefusePeer(feedring.PeerID(id.String()))
}

func (g *Gater) blocksAt(id peer.ID, a ma.Multiaddr) bool {
	at, ok := addressIn(a)
	return ok && g.blocks != nil && g.blocks.RefusePeerAt(feedring.PeerID(id.String()), at)
}

func addressIn(a ma.Multiaddr) (netip.Addr, bool) {
	ip, err := manet.ToIP(a)
	if err != nil {
		return netip.Addr{}, false
	}
	at, ok := netip.AddrFromSlice(ip)
	return at.Unmap(), ok
}

// Refuse keeps id away for a while.
func (g *Gater) Refuse(id peer.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.foreign) >= maxForeign {
		clear(g.foreign)
	}
	g.foreign[id] = time.Now().Add(foreignFor)
}

func (g *Gater) isForeign(id peer.ID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	until, ok := g.foreign[id]
	if ok && time.Now().After(until) {
		delete(g.foreign, id)
		return false
	}
	return ok
}

// Silence begins or ends the time in which only those of Meet are let through.
func (g *Gater) Silence(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.silent, g.met = on, nil
}

// Meet replaces whom a silent host may dial, and reports whether it is silent.
func (g *Gater) Meet(peers map[peer.ID]bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.met = peers
	return g.silent
}

// mayDial and mayAccept hold for everybody but strangers.
func (g *Gater) mayDial(id peer.ID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.silent || g.met[id]
}

func (g *Gater) mayAccept() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.silent
}

// InterceptPeerDial implements connmgr.ConnectionGater.
func (g *Gater) InterceptPeerDial(id peer.ID) bool {
	return g.mayDial(id) && !g.isForeign(id) && !g.blocksPeer(id)
}

// InterceptAddrDial implements connmgr.ConnectionGater. It sees addresses
// after names were resolved.
func (g *Gater) InterceptAddrDial(id peer.ID, a ma.Multiaddr) bool {
	return g.scope.Allows(a) && !g.blocksAt(id, a) && g.dials.May(id, a)
}

// InterceptAccept implements connmgr.ConnectionGater.
func (g *Gater) InterceptAccept(c network.ConnMultiaddrs) bool {
	at, ok := addressIn(c.RemoteMultiaddr())
	return g.mayAccept() && !(ok && g.blocks != nil && g.blocks.RefuseCaller(at))
}

// InterceptSecured implements connmgr.ConnectionGater.
func (g *Gater) InterceptSecured(d network.Direction, id peer.ID, c network.ConnMultiaddrs) bool {
	return (d == network.DirOutbound || g.mayAccept()) && !g.isForeign(id) && !g.Blocked(id, c.RemoteMultiaddr())
}

// InterceptUpgraded implements connmgr.ConnectionGater.
func (g *Gater) InterceptUpgraded(c network.Conn) (bool, control.DisconnectReason) {
	return !g.blocksPeer(c.RemotePeer()), 0 // it may have been blocked meanwhile
}
