// Package gate decides which connections a host makes and accepts.
package gate

import (
	"sync"
	"time"

	"github.com/feedring/feedring/internal/host/addr"
	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

const (
	foreignFor = time.Minute // a peer may be restarted into this network
	maxForeign = 4096
)

// Gater refuses to dial addresses outside the scope, and connections with
// peers that were seen to be of another network, or with all. It is safe for
// concurrent use.
type Gater struct {
	scope *addr.Scope

	mu      sync.Mutex
	foreign map[peer.ID]time.Time // until when
	silent  bool
	met     map[peer.ID]bool // whom this host may dial while it is silent
}

// New lets through what a scope allows.
func New(s *addr.Scope) *Gater { return &Gater{scope: s, foreign: make(map[peer.ID]time.Time)} }

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
func (g *Gater) InterceptPeerDial(id peer.ID) bool { return g.mayDial(id) && !g.isForeign(id) }

// InterceptAddrDial implements connmgr.ConnectionGater. It sees addresses
// after names were resolved.
func (g *Gater) InterceptAddrDial(_ peer.ID, a ma.Multiaddr) bool { return g.scope.Allows(a) }

// InterceptAccept implements connmgr.ConnectionGater.
func (g *Gater) InterceptAccept(network.ConnMultiaddrs) bool { return g.mayAccept() }

// InterceptSecured implements connmgr.ConnectionGater.
func (g *Gater) InterceptSecured(d network.Direction, id peer.ID, _ network.ConnMultiaddrs) bool {
	return (d == network.DirOutbound || g.mayAccept()) && !g.isForeign(id)
}

// InterceptUpgraded implements connmgr.ConnectionGater.
func (g *Gater) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) { return true, 0 }
