// Package blocking keeps what the owner of this peer blocks, and tells everybody who
// shows, stores, dials or serves.
package blocking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/blocks"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/refusals"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
)

const (
	// MaxBlocks is how many there are at most.
	MaxBlocks = 10_000
	record    = "blocks"
	// placeEvery is how often peers are sought that fall under prefixes and domains.
	placeEvery = 2 * time.Second
)

// Views tell what the machine knows.
type Views interface{ View() *peer.View }

// Watcher is told that more or less is blocked than before.
type Watcher interface{ BlocksChanged() }

// Blocks are those of one peer. Its methods may be called concurrently.
type Blocks struct {
	store   *store.Store
	refused *refusals.Counts
	self    feedring.PeerID
	wake    chan struct{} // holds one
	list    atomic.Pointer[blocks.List]
	changes atomic.Uint64

	changing sync.Mutex // guards what follows
	all      []blocks.Block
	within   []feedring.PeerID // peers that fall under prefixes and domains, in order
	views    Views
	watchers []Watcher
}

// saved is a block in the store.
type saved struct {
	Block  string    `json:"block"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until,omitzero"`
	Reason string    `json:"reason,omitempty"`
}

// Open reads what was blocked before.
func Open(s *store.Store, refused *refusals.Counts) (*Blocks, error) {
	b := &Blocks{store: s, refused: refused, wake: make(chan struct{}, 1)}
	value, err := s.Value(store.BucketPeer, record)
	if errors.Is(err, store.ErrNotFound) {
		return b, nil
	}
	var kept []saved
	if err == nil {
		err = json.Unmarshal(value, &kept)
	}
	if err != nil {
		return nil, fmt.Errorf("blocks: %w", err)
	}
	for _, one := range kept {
		target, err := blocks.Parse(one.Block)
		if err != nil {
			return nil, fmt.Errorf("block %q: %w", one.Block, err)
		}
		b.all = append(b.all, blocks.Block{Target: target, Since: one.Since, Until: one.Until, Reason: one.Reason})
	}
	b.list.Store(blocks.NewList(b.all, nil, time.Now()))
	return b, nil
}

// Begin says whose blocks they are, and who is told of changes.
func (b *Blocks) Begin(self feedring.PeerID, views Views, watchers ...Watcher) {
	b.changing.Lock()
	defer b.changing.Unlock()
	b.self, b.views, b.watchers = self, views, watchers
}

// Run ends blocks that had a time, and finds peers that come to fall under prefixes and
// domains, until ctx ends.
func (b *Blocks) Run(ctx context.Context) {
	for {
		pause := time.NewTimer(b.pause())
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-b.wake:
		case <-pause.C:
		}
		pause.Stop()
		b.changing.Lock()
		b.renew()
		b.changing.Unlock()
	}
}

func (b *Blocks) pause() time.Duration {
	l := b.list.Load()
	wait := 24 * time.Hour
	if next := l.Next(); !next.IsZero() {
		wait = max(0, min(wait, time.Until(next)))
	}
	if l.Places() {
		wait = min(wait, placeEvery)
	}
	return wait
}

// renew makes the list anew. It is called with changing held.
func (b *Blocks) renew() {
	now := time.Now()
	b.all = slices.DeleteFunc(b.all, func(one blocks.Block) bool { return one.Ended(now) })
	var within []feedring.PeerID
	plain := blocks.NewList(b.all, nil, now)
	if b.views != nil && plain.Places() {
		within = placed(b.views.View(), plain, b.self)
	}
	was := b.list.Load()
	same := slices.Equal(within, b.within) && (was != nil) == (plain != nil) && was.Next().Equal(plain.Next())
	b.within = within
	if same {
		return
	}
	b.set(blocks.NewList(b.all, within, now))
}

// set takes a list over and tells the watchers. It is called with changing held.
func (b *Blocks) set(l *blocks.List) {
	b.list.Store(l)
	b.changes.Add(1)
	for _, w := range b.watchers {
		w.BlocksChanged()
	}
}

// All lists the blocks, those that were set first before others.
func (b *Blocks) All() []blocks.Block {
	b.changing.Lock()
	defer b.changing.Unlock()
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(b.all), func(one blocks.Block) bool { return one.Ended(now) })
}

// ErrFull is for one block more than MaxBlocks.
var ErrFull = errors.New("too many blocks")

// Add keeps a block, and returns when it holds. One of the same target takes its place,
// and is known.
func (b *Blocks) Add(ctx context.Context, one blocks.Block) (known bool, err error) {
	b.changing.Lock()
	defer b.changing.Unlock()
	next := slices.DeleteFunc(slices.Clone(b.all), func(o blocks.Block) bool { return o.Target == one.Target })
	known = len(next) < len(b.all)
	if len(next) >= MaxBlocks {
		return known, ErrFull
	}
	return known, b.change(ctx, append(next, one))
}

// Remove takes a block back, and reports whether there was one.
func (b *Blocks) Remove(ctx context.Context, target blocks.Target) (bool, error) {
	b.changing.Lock()
	defer b.changing.Unlock()
	next := slices.DeleteFunc(slices.Clone(b.all), func(o blocks.Block) bool { return o.Target == target })
	if len(next) == len(b.all) {
		return false, nil
	}
	return true, b.change(ctx, next)
}

// change writes blocks down, then they hold. It is called with changing held.
func (b *Blocks) change(ctx context.Context, next []blocks.Block) error {
	kept := make([]saved, len(next))
	for i, one := range next {
		kept[i] = saved{one.Target.String(), one.Since, one.Until, one.Reason}
	}
	value, err := json.Marshal(kept)
	if err == nil {
		err = b.store.Put(ctx, store.BucketPeer, record, value)
	}
	if err != nil {
		return err
	}
	now := time.Now()
	b.all, b.within = next, nil
	plain := blocks.NewList(next, nil, now)
	if b.views != nil && plain.Places() {
		b.within = placed(b.views.View(), plain, b.self)
	}
	b.set(blocks.NewList(next, b.within, now))
	select {
	case b.wake <- struct{}{}: // the next end may be sooner
	default:
	}
	return nil
}

// Changes is another number whenever something else is blocked.
func (b *Blocks) Changes() uint64 { return b.changes.Load() }

// Any reports whether anything is blocked.
func (b *Blocks) Any() bool { return b.list.Load() != nil }

// Peer reports whether a peer is blocked.
func (b *Blocks) Peer(id feedring.PeerID) bool { return b.list.Load().Peer(id) }

// Feed reports whether a feed is blocked. This peer's own are not.
func (b *Blocks) Feed(ref feedring.FeedRef) bool {
	return ref.Publisher != b.self && b.list.Load().Feed(ref)
}

// Provider reports whether a provider calls itself by a blocked domain.
func (b *Blocks) Provider(name feedring.Provider) bool { return b.list.Load().Provider(name) }

// Entry reports whether an entry is blocked. This peer's own are not.
func (b *Blocks) Entry(e *feedring.Entry) bool {
	return e.Publisher != b.self && b.list.Load().Entry(e)
}

// Item is Entry of a stored one. It is stored under the name that it is shown under,
// and is blocked by the name that it gives itself, too.
func (b *Blocks) Item(it *store.Item) bool {
	if it.Ref.Publisher == b.self {
		return false
	}
	return b.Feed(it.Ref) || b.Provider(it.Provider) || b.list.Load().Places() && b.Provider(wire.ProviderOf(it.Payload))
}

// RefusePeer is Peer for who connects: it counts.
func (b *Blocks) RefusePeer(id feedring.PeerID) bool {
	return b.counted(b.Peer(id), refusals.Key)
}

// RefuseAddr reports whether an address is blocked, and counts.
func (b *Blocks) RefuseAddr(a netip.Addr) bool {
	return b.counted(b.list.Load().Addr(a), refusals.Prefix)
}

// RefuseHost reports whether a host, with or without a port, is blocked, and counts.
func (b *Blocks) RefuseHost(address string) bool {
	return b.counted(b.list.Load().Host(address), refusals.Domain)
}

func (b *Blocks) counted(blocked bool, why refusals.Reason) bool {
	if blocked {
		b.refused.Add(refusals.Block, why)
	}
	return blocked
}
