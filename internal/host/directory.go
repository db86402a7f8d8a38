package host

import (
	"context"
	"fmt"

	dht "github.com/libp2p/go-libp2p-kad-dht"
	"github.com/libp2p/go-libp2p-kad-dht/records"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/directory"
)

// The address book is a Kademlia table (kad-dht) of this network's own: group id → its
// peers, peer id → addresses.

func (h *Host) directoryProtocol() protocol.ID { return h.prefix + "kad/1.0.0" }

func (h *Host) startDirectory() error {
	mode := dht.ModeServer
	if h.cfg.Client {
		mode = dht.ModeClient
	}
	opts := []dht.Option{
		dht.ProtocolPrefix(protocol.ID("/feedring/" + h.cfg.Network)),
		dht.Mode(mode),
		dht.DisableValues(),
		dht.AddressFilter(h.scope.Filter),
		dht.QueryFilter(func(_ any, info peer.AddrInfo) bool {
			return h.connected(info.ID) || len(h.scope.Filter(info.Addrs)) > 0
		}),
		dht.ProviderManagerOpts(records.ProvideValidity(directory.Valid), records.ProviderAddrTTL(directory.Valid), records.CleanupInterval(directory.Valid/3)),
	}
	if h.cfg.Client {
		opts = append(opts, dht.DisableAutoRefresh())
	}
	var err error
	lib := h.lib
	if h.cfg.Door != nil {
		lib = gated{h.lib, h}
		opts = append(opts, dht.RoutingTableFilter(func(_ any, id peer.ID) bool { return h.welcome(id) }))
	}
	if h.dht, err = dht.New(lib, opts...); err != nil {
		return fmt.Errorf("address book: %w", err)
	}
	h.groups.Begin(h.dht)
	if !h.cfg.Client {
		h.background(func() { h.groups.Run(h.ctx) })
	}
	return nil
}

// Provide puts this peer into the address book as one of g's, and again every
// ten minutes and when peers appear, until Unprovide or Close. It blocks until
// the nearest peers were told or ctx ends; the error concerns only this first
// time.
func (h *Host) Provide(ctx context.Context, g feedring.GroupID) error {
	return h.groups.Provide(ctx, g)
}

// Unprovide stops Provide. The address book forgets within half an hour.
func (h *Host) Unprovide(g feedring.GroupID) { h.groups.Unprovide(g) }

// FindGroup asks the address book for peers of g, this one left out, at most
// 32. It blocks until the search ends or ctx does, and returns what was found
// by then; the error is ctx's, where nothing was.
func (h *Host) FindGroup(ctx context.Context, g feedring.GroupID) ([]feedring.PeerInfo, error) {
	peers, err := h.groups.Find(ctx, g)
	if err != nil {
		return nil, err
	}
	var found []feedring.PeerInfo
	for info := range peers {
		if info.ID == h.lib.ID() {
			continue
		}
		found = append(found, h.info(info))
	}
	if len(found) == 0 && ctx.Err() != nil {
		return nil, fmt.Errorf("address book: %w", ctx.Err())
	}
	return found, nil
}
