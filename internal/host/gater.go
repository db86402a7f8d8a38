package host

import (
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

const (
	foreignFor = time.Minute // a peer may be restarted into this network
	maxForeign = 4096
)

// gater refuses to dial addresses outside the scope, and connections with
// peers that were seen to be of another network, or with all. It is safe for
// concurrent use.
type gater struct {
	scope *scope

	mu      sync.Mutex
	foreign map[peer.ID]time.Time // until when
	silent  bool
	met     map[peer.ID]bool // whom this host may dial while it is silent
}

func newGater(s *scope) *gater { return &gater{scope: s, foreign: make(map[peer.ID]time.Time)} }

// refuse keeps id away for a while.
func (g *gater) refuse(id peer.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.foreign) >= maxForeign {
		clear(g.foreign)
	}
	g.foreign[id] = time.Now().Add(foreignFor)
}

func (g *gater) isForeign(id peer.ID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	until, ok := g.foreign[id]
	if ok && time.Now().After(until) {
		delete(g.foreign, id)
		return false
	}
	return ok
}

func (g *gater) silence(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.silent, g.met = on, nil
}

// meet replaces whom a silent host may dial, and reports whether it is silent.
func (g *gater) meet(peers map[peer.ID]bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.met = peers
	return g.silent
}

// mayDial and mayAccept hold for everybody but strangers.
func (g *gater) mayDial(id peer.ID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.silent || g.met[id]
}

func (g *gater) mayAccept() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.silent
}

// InterceptPeerDial implements connmgr.ConnectionGater.
func (g *gater) InterceptPeerDial(id peer.ID) bool { return g.mayDial(id) && !g.isForeign(id) }

// InterceptAddrDial implements connmgr.ConnectionGater. It sees addresses
// after names were resolved.
func (g *gater) InterceptAddrDial(_ peer.ID, a ma.Multiaddr) bool { return g.scope.allows(a) }

// InterceptAccept implements connmgr.ConnectionGater.
func (g *gater) InterceptAccept(network.ConnMultiaddrs) bool { return g.mayAccept() }

// InterceptSecured implements connmgr.ConnectionGater.
func (g *gater) InterceptSecured(d network.Direction, id peer.ID, _ network.ConnMultiaddrs) bool {
	return (d == network.DirOutbound || g.mayAccept()) && !g.isForeign(id)
}

// InterceptUpgraded implements connmgr.ConnectionGater.
func (g *gater) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) { return true, 0 }
