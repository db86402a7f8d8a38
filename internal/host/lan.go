package host

import (
	"context"
	"io"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/discovery/mdns"
)

// lan is discovery on the local network.
type lan struct {
	mu      sync.Mutex
	service io.Closer
	busy    chan struct{} // bounds dials
}

// startLAN begins to find and to be found by mDNS, where the configuration
// asks for it. A machine without multicast goes without.
func (h *Host) startLAN() {
	if !h.cfg.LAN || h.cfg.Client {
		return
	}
	h.lan.busy = make(chan struct{}, joinAtOnce)
	s := mdns.NewMdnsService(h.lib, "_feedring-"+h.cfg.Network+"._udp", found{h})
	if err := s.Start(); err != nil {
		h.log.Warn("peers on the local network cannot be found", "err", err)
	}
	h.lan.mu.Lock()
	h.lan.service = s
	h.lan.mu.Unlock()
}

func (h *Host) stopLAN() {
	h.lan.mu.Lock()
	defer h.lan.mu.Unlock()
	if h.lan.service != nil {
		_ = h.lan.service.Close()
	}
}

// found receives what mDNS finds.
type found struct{ h *Host }

// HandlePeerFound implements mdns.Notifee.
func (f found) HandlePeerFound(info peer.AddrInfo) {
	h := f.h
	if h.ctx.Err() != nil || h.connected(info.ID) {
		return
	}
	select {
	case h.lan.busy <- struct{}{}:
		defer func() { <-h.lan.busy }()
	default:
		return // it is announced again
	}
	h.remember(info.ID, info.Addrs, learnTTL)
	ctx, cancel := context.WithCancel(h.ctx)
	defer cancel()
	if _, err := h.connect(ctx, peer.AddrInfo{ID: info.ID}); err != nil {
		h.log.Debug("peer on the local network", "peer", info.ID, "err", err)
	}
}
