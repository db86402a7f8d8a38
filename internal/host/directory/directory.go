// Package directory keeps a host in the address book as one of its groups' peers, and
// finds other peers of a group there.
package directory

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ipfs/go-cid"
	dht "github.com/libp2p/go-libp2p-kad-dht"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/feedring/feedring"
)

const (
	provideEvery  = 10 * time.Minute
	provideWithin = 30 * time.Second
	provideSoon   = 200 * time.Millisecond // after a new peer, so that it has its place in the table
	provideGap    = 5 * time.Second        // between two rounds that new peers ask for
	smallTable    = 20                     // with fewer peers in the table each new one may hold our records
	maxProviders  = 32
)

// Valid is how long a record of a group's peer is kept: its dead peers leave the
// address book after this.
const Valid = 3 * provideEvery

// Groups are those that a host offers in the address book. All methods may be called
// at the same time, but for Begin, which comes first; Nudge may come earlier.
type Groups struct {
	log   *slog.Logger
	table *dht.IpfsDHT

	mu     sync.Mutex
	groups map[feedring.GroupID]struct{}
	nudged chan struct{} // holds one: a new peer may hold our records
}

// New returns Groups of which none is offered.
func New(log *slog.Logger) *Groups {
	return &Groups{log: log, groups: make(map[feedring.GroupID]struct{}), nudged: make(chan struct{}, 1)}
}

// Begin says which table they are offered in.
func (d *Groups) Begin(table *dht.IpfsDHT) { d.table = table }

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
// ten minutes and when peers appear, until Unprovide, while Run runs. It blocks until
// the nearest peers were told or ctx ends; the error concerns only this first
// time.
func (d *Groups) Provide(ctx context.Context, g feedring.GroupID) error {
	d.mu.Lock()
	d.groups[g] = struct{}{}
	d.mu.Unlock()
	return d.provide(ctx, g)
}

// Unprovide stops Provide. The address book forgets within half an hour.
func (d *Groups) Unprovide(g feedring.GroupID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.groups, g)
}

func (d *Groups) provide(ctx context.Context, g feedring.GroupID) error {
	if d.table.RoutingTable().Size() == 0 {
		return nil // nobody to tell yet: Run does when there is
	}
	c, err := key(g)
	if err != nil {
		return err
	}
	if err := d.table.Provide(ctx, c, true); err != nil {
		return fmt.Errorf("address book: %w", err)
	}
	return nil
}

// Nudge says that a peer appeared. It never blocks.
func (d *Groups) Nudge() {
	select {
	case d.nudged <- struct{}{}:
	default:
	}
}

// Run repeats what Provide did, until ctx ends.
func (d *Groups) Run(ctx context.Context) {
	var last time.Time
	next := time.NewTimer(provideEvery)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.nudged:
			if d.table.RoutingTable().Size() < smallTable {
				next.Reset(max(provideSoon, time.Until(last.Add(provideGap))))
			}
			continue
		case <-next.C:
		}
		d.provideAll(ctx)
		last = time.Now()
		next.Reset(provideEvery)
	}
}

func (d *Groups) provideAll(ctx context.Context) {
	d.mu.Lock()
	groups := make([]feedring.GroupID, 0, len(d.groups))
	for g := range d.groups {
		groups = append(groups, g)
	}
	d.mu.Unlock()
	for _, g := range groups {
		ctx, cancel := context.WithTimeout(ctx, provideWithin)
		if err := d.provide(ctx, g); err != nil {
			d.log.Debug("not told", "group", g, "err", err)
		}
		cancel()
	}
}

// Find asks the address book for peers of g, the host itself among them, at most 32.
// The channel is closed when the search ends or ctx does.
func (d *Groups) Find(ctx context.Context, g feedring.GroupID) (<-chan peer.AddrInfo, error) {
	c, err := key(g)
	if err != nil {
		return nil, err
	}
	return d.table.FindProvidersAsync(ctx, c, maxProviders), nil
}
