package node

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
)

// pruner drops entries of others that are past freshness. Each group says how
// far its own may go; the store is pruned once at a time. A group that this peer
// left says nothing any more: of those abandoned looks after.
type pruner struct {
	store  *store.Store
	copies *copies
	self   feedring.PeerID
	log    *slog.Logger
	spawn  func(func()) bool
	ctx    context.Context

	mu      sync.Mutex
	waiting map[feedring.GroupID]time.Time
	busy    bool

	notes sync.Mutex // held while a note of what was dropped is written
}

// before does group.Prune.
func (p *pruner) before(g feedring.GroupID, t time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[g] = p.copies.drops(t, time.Now())
	if !p.busy {
		p.busy = true
		p.spawn(p.run)
	}
}

// full makes room where copies take it.
func (p *pruner) full(g feedring.GroupID) {
	if before, shorter := p.copies.full(time.Now()); shorter {
		p.before(g, before)
	}
}

func (p *pruner) run() {
	for {
		g, before, ok := p.next()
		if !ok {
			return
		}
		err := p.drop(g, before)
		if err != nil && p.ctx.Err() == nil {
			p.log.Warn("old entries not dropped", "group", g, "err", err)
		}
	}
}

// drop drops what others published into a group. How far is on disk before: by a
// clock that is ahead, and set back before the next start, that is fresh again, and
// the mark of that start must not promise it.
func (p *pruner) drop(g feedring.GroupID, before time.Time) error {
	if err := p.note(g, before); err != nil {
		return err
	}
	return p.prune(before, func(ref feedring.FeedRef) bool {
		h, ok := p.store.Head(ref)
		return !ok || ref.Publisher == p.self || h.Theme.Group() != g
	})
}

// note says that copies of a group up to a time are not here: they were dropped
// here, or where they were polled.
func (p *pruner) note(g feedring.GroupID, to time.Time) error {
	p.notes.Lock()
	defer p.notes.Unlock()
	last, err := droppedTo(p.store, g, to)
	if err == nil && last.IsZero() {
		err = p.store.Put(p.ctx, store.BucketMeta, droppedKey(g), binary.BigEndian.AppendUint64(nil, uint64(to.UnixNano())))
	}
	return err
}

// dropped is up to when entries of another's feed after a position may be missing
// here; zero: none that were seen after fresh. What this peer itself takes for old,
// it may never have taken. Ask after they were read: the note comes before they are
// dropped.
func (p *pruner) dropped(ref feedring.FeedRef, after feedring.Position, fresh, old time.Time) (time.Time, error) {
	if p == nil || ref.Publisher == p.self {
		return time.Time{}, nil
	}
	h, ok := p.store.Head(ref)
	next := feedring.Position{Epoch: after.Epoch, Sequence: after.Sequence + 1}
	if !ok || h.Private || h.Count == 0 || h.First.Compare(next) <= 0 {
		return time.Time{}, nil
	}
	at, err := droppedTo(p.store, h.Theme.Group(), fresh)
	if old.After(fresh) && old.After(at) {
		at = old
	}
	return at, err
}

func droppedKey(g feedring.GroupID) string { return fmt.Sprintf("dropped/%x", g[:]) }

// droppedTo returns up to when copies of a group were dropped; zero: not beyond
// fresh.
func droppedTo(s *store.Store, g feedring.GroupID, fresh time.Time) (time.Time, error) {
	value, err := s.Value(store.BucketMeta, droppedKey(g))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, fmt.Errorf("what was dropped is not known: %w", err)
	case len(value) != 8:
		return time.Time{}, fmt.Errorf("the store's note of what was dropped has %d bytes, not 8", len(value))
	}
	at := time.Unix(0, int64(binary.BigEndian.Uint64(value)))
	if !at.After(fresh) {
		return time.Time{}, nil
	}
	return at, nil
}

// prune drops what was seen before a time of all feeds but those to keep.
func (p *pruner) prune(before time.Time, keep func(feedring.FeedRef) bool) error {
	done, err := p.copies.prunes(p.ctx, before, keep)
	if err == nil {
		_, err = p.store.Prune(p.ctx, before, keep)
	}
	done()
	return err
}

func (p *pruner) next() (feedring.GroupID, time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for g, t := range p.waiting {
		delete(p.waiting, g)
		return g, t, true
	}
	p.busy = false
	return feedring.GroupID{}, time.Time{}, false
}

// abandoned drops what others published into groups that this peer is no
// longer in: entries seen before a time, and where none is left of a feed, that
// it was ever known. Not all of it at once: who replaces the one feed of a theme
// by another leaves the group for a moment only, and need not poll it all again.
func (p *pruner) abandoned(before time.Time, offered map[feedring.Theme][]feedring.Feed) error {
	kept := func(h store.Head) bool {
		_, in := offered[h.Theme]
		return in || h.Private || h.Ref.Publisher == p.self
	}
	err := p.prune(before, func(ref feedring.FeedRef) bool {
		h, ok := p.store.Head(ref)
		return !ok || kept(h)
	})
	if err != nil {
		return fmt.Errorf("dropping entries of groups that were left: %w", err)
	}
	for _, h := range p.store.HeadsWhere(func(h *store.Head) bool { return h.Count == 0 && !kept(*h) }) {
		if err := cmp.Or(p.store.Forget(p.ctx, h.Ref), p.copies.forget(p.ctx, h.Ref)); err != nil {
			return fmt.Errorf("forgetting feeds of groups that were left: %w", err)
		}
	}
	return nil
}

const abandonedEvery = time.Hour

// keepHouse looks after what no group looks after.
func (n *Node) keepHouse() {
	tick := time.NewTicker(min(abandonedEvery, n.cfg.Freshness))
	defer tick.Stop()
	for {
		n.dropAbandoned()
		select {
		case <-n.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// dropAbandoned does so while no feed is added or removed: a group that is
// entered again meanwhile would count on what is dropped.
func (n *Node) dropAbandoned() {
	n.origins.changing.Lock()
	defer n.origins.changing.Unlock()
	err := n.pruner.abandoned(n.loop.Now().Add(-n.cfg.Freshness), n.origins.offered())
	if err != nil && n.ctx.Err() == nil {
		n.log.Warn("the store keeps what it need not", "err", err)
	}
}
