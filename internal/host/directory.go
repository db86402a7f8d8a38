package host

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ipfs/go-cid"
	dht "github.com/libp2p/go-libp2p-kad-dht"
	"github.com/libp2p/go-libp2p-kad-dht/records"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/feedring/feedring"
)

const (
	provideEvery  = 10 * time.Minute
	provideValid  = 30 * time.Minute // a group's dead peers leave the address book after this
	provideWithin = 30 * time.Second
	provideSoon   = 200 * time.Millisecond // after a new peer, so that it has its place in the table
	provideGap    = 5 * time.Second        // between two rounds that new peers ask for
	smallTable    = 20                     // with fewer peers in the table each new one may hold our records
	maxProviders  = 32
)

// directory is what this host offers in the address book, a Kademlia table
// (kad-dht) of this network's own: group id → its peers, peer id → addresses.
type directory struct {
	mu     sync.Mutex
	groups map[feedring.GroupID]struct{}
	nudged chan struct{} // holds one: a new peer may hold our records
}

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
		dht.ProviderManagerOpts(records.ProvideValidity(provideValid), records.ProviderAddrTTL(provideValid), records.CleanupInterval(provideEvery)),
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
	if !h.cfg.Client {
		h.background(h.keepProviding)
	}
	return nil
}

// key is where a group's peers are found in the address book.
func key(g feedring.GroupID) (cid.Cid, error) {
	const sha256 = 0x12 // in the table of multihash
	id, err := cid.V1Builder{Codec: cid.Raw, MhType: sha256}.Sum(append([]byte("feedring group "), g[:]...))
	if err != nil {
		return cid.Undef, fmt.Errorf("address book: %w", err)
	}
	return id, nil
}

// Provide puts this peer into the address book as one of g's, and again every
// ten minutes and when peers appear, until Unprovide or Close. It blocks until
// the nearest peers were told or ctx ends; the error concerns only this first
// time.
func (h *Host) Provide(ctx context.Context, g feedring.GroupID) error {
	h.offers.mu.Lock()
	h.offers.groups[g] = struct{}{}
	h.offers.mu.Unlock()
	return h.provide(ctx, g)
}

// Unprovide stops Provide. The address book forgets within half an hour.
func (h *Host) Unprovide(g feedring.GroupID) {
	h.offers.mu.Lock()
	defer h.offers.mu.Unlock()
	delete(h.offers.groups, g)
}

func (h *Host) provide(ctx context.Context, g feedring.GroupID) error {
	if h.dht.RoutingTable().Size() == 0 {
		return nil // nobody to tell yet: keepProviding does when there is
	}
	c, err := key(g)
	if err != nil {
		return err
	}
	if err := h.dht.Provide(ctx, c, true); err != nil {
		return fmt.Errorf("address book: %w", err)
	}
	return nil
}

// nudgeDirectory says that a peer appeared. It never blocks.
func (h *Host) nudgeDirectory() {
	select {
	case h.offers.nudged <- struct{}{}:
	default:
	}
}

// keepProviding repeats what Provide did.
func (h *Host) keepProviding() {
	var last time.Time
	next := time.NewTimer(provideEvery)
	defer next.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-h.offers.nudged:
			if h.dht.RoutingTable().Size() < smallTable {
				next.Reset(max(provideSoon, time.Until(last.Add(provideGap))))
			}
			continue
		case <-next.C:
		}
		h.provideAll()
		last = time.Now()
		next.Reset(provideEvery)
	}
}

func (h *Host) provideAll() {
	h.offers.mu.Lock()
	groups := make([]feedring.GroupID, 0, len(h.offers.groups))
	for g := range h.offers.groups {
		groups = append(groups, g)
	}
	h.offers.mu.Unlock()
	for _, g := range groups {
		ctx, cancel := context.WithTimeout(h.ctx, provideWithin)
		if err := h.provide(ctx, g); err != nil {
			h.log.Debug("not told", "group", g, "err", err)
		}
		cancel()
	}
}

// FindGroup asks the address book for peers of g, this one left out, at most
// 32. It blocks until the search ends or ctx does, and returns what was found
// by then; the error is ctx's, where nothing was.
func (h *Host) FindGroup(ctx context.Context, g feedring.GroupID) ([]feedring.PeerInfo, error) {
	c, err := key(g)
	if err != nil {
		return nil, err
	}
	var found []feedring.PeerInfo
	for info := range h.dht.FindProvidersAsync(ctx, c, maxProviders) {
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
