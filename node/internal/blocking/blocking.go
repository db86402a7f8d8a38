// Package blocking keeps what the owner of this peer blocks, by own blocks and by the lists of
// others that it follows, and tells everybody who shows, stores, dials or serves.
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

// Records are small records on disk.
type Records interface {
	Value(b store.Bucket, key string) ([]byte, error)
	Put(ctx context.Context, b store.Bucket, key string, value []byte) error
	Delete(ctx context.Context, b store.Bucket, key string) error
}

// Watcher is told that more or less is blocked than before.
type Watcher interface{ BlocksChanged() }

// Blocks are those of one peer. Its methods may be called concurrently.
type Blocks struct {
	store   Records
	refused *refusals.Counts
	self    feedring.PeerID
	wake    chan struct{} // holds one
	policy  atomic.Pointer[blocks.Policy]
	changes atomic.Uint64

	changing sync.Mutex // guards what follows
	all      []blocks.Block
	lists    []*list         // of others
	allowed  []blocks.Target // of their lines, those that do not hold here
	others   []blocks.Block  // of all lists, those that may hold
	trust    blocks.Trust
	within   []feedring.PeerID // peers that fall under own prefixes and domains, in order
	withinOf []feedring.PeerID // … under those of others
	views    Views
	placedOf *peer.View // of which within and withinOf were found; nil: they were not
	watchers []Watcher
	reader   listReader
}

// saved is a block in the store.
type saved struct {
	Block  string    `json:"block"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until,omitzero"`
	Reason string    `json:"reason,omitempty"`
}

// Open reads what was blocked before.
func Open(s Records, refused *refusals.Counts) (*Blocks, error) {
	b := &Blocks{store: s, refused: refused, wake: make(chan struct{}, 1), reader: listReader{wake: make(chan struct{}, 1)}}
	b.policy.Store(&blocks.Policy{})
	var kept []saved
	if err := load(s, record, &kept); err != nil {
		return nil, fmt.Errorf("blocks: %w", err)
	}
	for _, one := range kept {
		target, err := blocks.Parse(one.Block)
		if err != nil {
			return nil, fmt.Errorf("block %q: %w", one.Block, err)
		}
		b.all = append(b.all, blocks.Block{Target: target, Since: one.Since, Until: one.Until, Reason: one.Reason})
	}
	if err := b.openLists(); err != nil {
		return nil, err
	}
	b.policy.Store(b.make(time.Now(), nil, nil))
	return b, nil
}

// load reads a record, which may be missing.
func load(s Records, key string, into any) error {
	value, err := s.Value(store.BucketPeer, key)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(value, into)
}

// make is the policy of the blocks that hold at a time, and of peers that fall under them.
func (b *Blocks) make(now time.Time, within, withinOf []feedring.PeerID) *blocks.Policy {
	return &blocks.Policy{Own: blocks.NewSet(b.all, within, now), Others: blocks.NewSet(b.others, withinOf, now), Trust: b.trust}
}

// Begin says whose blocks they are, and who is told of changes.
func (b *Blocks) Begin(self feedring.PeerID, views Views, watchers ...Watcher) {
	b.changing.Lock()
	defer b.changing.Unlock()
	b.self, b.views, b.watchers = self, views, watchers
	b.sortOthers()
	b.policy.Store(b.make(time.Now(), nil, nil))
}

// TrustChanged takes whom the owner trusts by hand: lists of others bar nobody of them.
func (b *Blocks) TrustChanged(peers []feedring.PeerID, sites []string) {
	b.changing.Lock()
	defer b.changing.Unlock()
	b.trust = blocks.NewTrust(peers, sites)
	b.apply()
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
	p := b.policy.Load()
	wait := 24 * time.Hour
	if next := p.Next(); !next.IsZero() {
		wait = max(0, min(wait, time.Until(next)))
	}
	if p.Places() {
		wait = min(wait, placeEvery)
	}
	return wait
}

// renew makes the policy anew where a block ended or peers came to fall under others: with lists of
// others it is large. It is called with changing held.
func (b *Blocks) renew() {
	now, p := time.Now(), b.policy.Load()
	if next := p.Next(); !next.IsZero() && !now.Before(next) {
		b.all = slices.DeleteFunc(b.all, func(one blocks.Block) bool { return one.Ended(now) })
		b.remake(now)
		return
	}
	if b.views == nil || !p.Places() || b.views.View() == b.placedOf {
		return
	}
	if within, withinOf := b.place(p); !slices.Equal(within, b.within) || !slices.Equal(withinOf, b.withinOf) {
		b.set(now, within, withinOf)
	}
}

// place finds the peers that fall under prefixes and domains.
func (b *Blocks) place(p *blocks.Policy) (within, withinOf []feedring.PeerID) {
	if b.views == nil || !p.Places() {
		b.placedOf = nil
		return nil, nil
	}
	b.placedOf = b.views.View()
	return placed(b.placedOf, p.Own, b.self), placed(b.placedOf, p.Others, b.self)
}

// apply has what was changed hold at once. It is called with changing held.
func (b *Blocks) apply() {
	b.sortOthers()
	b.remake(time.Now())
	select {
	case b.wake <- struct{}{}: // the next end may be sooner
	default:
	}
}

// remake makes the policy anew of all blocks. It is called with changing held.
func (b *Blocks) remake(now time.Time) {
	within, withinOf := b.place(b.make(now, nil, nil))
	b.set(now, within, withinOf)
}

// set makes the policy anew, and tells the watchers. It is called with changing held.
func (b *Blocks) set(now time.Time, within, withinOf []feedring.PeerID) {
	b.within, b.withinOf = within, withinOf
	b.policy.Store(b.make(now, within, withinOf))
	b.changes.Add(1)
	for _, w := range b.watchers {
		w.BlocksChanged()
	}
}

// All lists this peer's own blocks, those that were set first before others, and then those of
// the lists of others that hold, each with its origin.
func (b *Blocks) All() []blocks.Block {
	b.changing.Lock()
	defer b.changing.Unlock()
	now := time.Now()
	return slices.DeleteFunc(slices.Concat(b.all, b.others), func(one blocks.Block) bool { return one.Ended(now) })
}

// What keeps one more block or exception out.
var (
	ErrFull = errors.New("too many blocks")
	ErrRoom = fmt.Errorf("the blocks with their reasons take more than the %d KiB that are kept", store.MaxValue>>10)
)

// Add keeps a block, and returns when it holds. One of the same target takes its place,
// and is known. With an error all is as it was.
func (b *Blocks) Add(ctx context.Context, one blocks.Block) (known bool, err error) {
	b.changing.Lock()
	defer b.changing.Unlock()
	next := slices.DeleteFunc(slices.Clone(b.all), func(o blocks.Block) bool { return o.Target == one.Target })
	known = len(next) < len(b.all)
	if len(next) >= MaxBlocks {
		return known, ErrFull
	}
	next = append(next, one)
	allowed := without(b.allowed, one.Target)
	// What one write leaves is a block and an exception, which is a block.
	if err := b.putBlocks(ctx, next); err != nil {
		return known, err
	}
	if len(allowed) < len(b.allowed) {
		if err := b.putAllowed(ctx, allowed); err != nil {
			return known, errors.Join(err, b.putBlocks(context.WithoutCancel(ctx), b.all))
		}
	}
	b.hold(next, allowed)
	return known, nil
}

// Remove takes a block back, and reports whether there was one. A line of a list of others is
// allowed here from then on, until it is blocked by hand. With an error all is as it was.
func (b *Blocks) Remove(ctx context.Context, target blocks.Target) (gone, allowed bool, err error) {
	b.changing.Lock()
	defer b.changing.Unlock()
	next := slices.DeleteFunc(slices.Clone(b.all), func(o blocks.Block) bool { return o.Target == target })
	allows := b.allowed
	if allowed = b.listed(target); allowed {
		allows = append(without(b.allowed, target), target)
	}
	switch {
	case len(next) == len(b.all) && !allowed:
		return false, false, nil
	case len(allows) > MaxBlocks:
		return false, false, ErrFull
	}
	if allowed {
		if err := b.putAllowed(ctx, allows); err != nil {
			return false, false, err
		}
	}
	if len(next) < len(b.all) {
		if err := b.putBlocks(ctx, next); err != nil {
			return false, false, errors.Join(err, b.putAllowed(context.WithoutCancel(ctx), b.allowed))
		}
	}
	b.hold(next, allows)
	return true, allowed, nil
}

// hold has what was written down hold. It is called with changing held.
func (b *Blocks) hold(next []blocks.Block, allowed []blocks.Target) {
	b.all, b.allowed = next, allowed
	b.apply()
}

func (b *Blocks) putBlocks(ctx context.Context, all []blocks.Block) error {
	kept := make([]saved, len(all))
	for i, one := range all {
		kept[i] = saved{one.Target.String(), one.Since, one.Until, one.Reason}
	}
	return b.put(ctx, record, kept)
}

// without is a list of targets without one.
func without(all []blocks.Target, t blocks.Target) []blocks.Target {
	return slices.DeleteFunc(slices.Clone(all), func(o blocks.Target) bool { return o == t })
}

// Changes is another number whenever something else is blocked.
func (b *Blocks) Changes() uint64 { return b.changes.Load() }

// Any reports whether anything is blocked.
func (b *Blocks) Any() bool { return b.policy.Load().Any() }

// Peer reports whether a peer is blocked.
func (b *Blocks) Peer(id feedring.PeerID) bool { return b.policy.Load().Peer(id) }

// Feed reports whether a feed is blocked. This peer's own are not.
func (b *Blocks) Feed(ref feedring.FeedRef) bool {
	return ref.Publisher != b.self && b.policy.Load().Feed(ref)
}

// BlocksFeed reports whether the feeds of an address are blocked, whoever publishes them.
func (b *Blocks) BlocksFeed(url string) bool {
	return b.policy.Load().Feed(feedring.FeedRef{URL: url})
}

// OwnFeed is Feed by the blocks of this peer's owner alone.
func (b *Blocks) OwnFeed(ref feedring.FeedRef) bool {
	return ref.Publisher != b.self && b.policy.Load().Own.Feed(ref)
}

// Provider reports whether a provider calls itself by a blocked domain.
func (b *Blocks) Provider(name feedring.Provider) bool { return b.policy.Load().Provider(name) }

// Entry reports whether an entry is blocked. This peer's own are not.
func (b *Blocks) Entry(e *feedring.Entry) bool {
	return e.Publisher != b.self && b.policy.Load().Entry(e)
}

// Item is Entry of a stored one. It is stored under the name that it is shown under,
// and is blocked by the name that it gives itself, too.
func (b *Blocks) Item(it *store.Item) bool {
	if it.Ref.Publisher == b.self {
		return false
	}
	return b.Feed(it.Ref) || b.Provider(it.Provider) || b.policy.Load().Places() && b.Provider(wire.ProviderOf(it.Payload))
}

// RefusePeer is Peer for who connects: it counts.
func (b *Blocks) RefusePeer(id feedring.PeerID) bool {
	return b.counted(b.Peer(id), refusals.Key)
}

// RefuseCaller reports whether who connects from an address is blocked whatever its key, and counts.
func (b *Blocks) RefuseCaller(a netip.Addr) bool {
	return b.counted(b.policy.Load().Caller(a), refusals.Prefix)
}

// RefusePeerAt reports whether a peer is blocked for its address, and counts.
func (b *Blocks) RefusePeerAt(id feedring.PeerID, a netip.Addr) bool {
	return b.counted(b.policy.Load().PeerAt(id, a), refusals.Prefix)
}

// RefuseAddr reports whether an address is blocked, and counts.
func (b *Blocks) RefuseAddr(a netip.Addr) bool {
	return b.counted(b.policy.Load().Addr(a), refusals.Prefix)
}

// RefuseHost reports whether a host, with or without a port, is blocked, and counts.
func (b *Blocks) RefuseHost(address string) bool {
	return b.counted(b.policy.Load().Host(address), refusals.Domain)
}

func (b *Blocks) counted(blocked bool, why refusals.Reason) bool {
	if blocked {
		b.refused.Add(refusals.Block, why)
	}
	return blocked
}
