package replicate

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/store"
)

// prunes are what is to be dropped of others' entries past freshness. Each group says
// how far its own may go; the store is pruned once at a time. A group that this peer
// left says nothing any more: dropAbandoned looks after those.
type prunes struct {
	mu      sync.Mutex
	waiting map[feedring.GroupID]time.Time
	busy    bool

	notes sync.Mutex // held while a note of what was dropped is written
}

// Prune does group.Prune.
func (r *Replicator) Prune(o group.Prune) { r.pruneSoon(o.Group, o.Before) }

func (r *Replicator) pruneSoon(g feedring.GroupID, t time.Time) {
	r.prunes.mu.Lock()
	defer r.prunes.mu.Unlock()
	r.prunes.waiting[g] = r.copies.pruneDate(t, time.Now())
	if !r.prunes.busy {
		r.prunes.busy = true
		r.Tasks.Run(r.runPrunes)
	}
}

// makeRoom drops copies early where the disk is full.
func (r *Replicator) makeRoom(g feedring.GroupID) {
	if before, shorter := r.copies.full(time.Now()); shorter {
		r.pruneSoon(g, before)
	}
}

func (r *Replicator) runPrunes() {
	for {
		g, before, ok := r.nextPrune()
		if !ok {
			return
		}
		err := r.drop(g, before)
		if err != nil && r.ctx.Err() == nil {
			r.Log.Warn("old entries not dropped", "group", g, "err", err)
		}
	}
}

// drop drops what others published into a group. First it writes down up to when: if this
// clock is ahead, and is set back before the next start, what was dropped is fresh
// again, and the mark of that start must not promise it.
func (r *Replicator) drop(g feedring.GroupID, before time.Time) error {
	if err := r.noteDropped(g, before); err != nil {
		return err
	}
	return r.prune(before, func(ref feedring.FeedRef) bool {
		h, ok := r.Store.Head(ref)
		return !ok || ref.Publisher == r.Self || h.Theme.Group() != g
	})
}

// noteDropped writes down that copies of a group up to a time are not here: they were
// dropped here, or by the peer that was polled.
func (r *Replicator) noteDropped(g feedring.GroupID, to time.Time) error {
	r.prunes.notes.Lock()
	defer r.prunes.notes.Unlock()
	last, err := DroppedTo(r.Store, g, to)
	if err == nil && last.IsZero() {
		err = r.Store.Put(r.ctx, store.BucketMeta, droppedKey(g), binary.BigEndian.AppendUint64(nil, uint64(to.UnixNano())))
	}
	return err
}

// dropped returns the time up to which entries of another's feed after a position may be
// missing here; zero: none that were seen after fresh. Entries before old may never have
// been stored. Call it after the entries were read: the note is written before they are
// dropped.
func (r *Replicator) dropped(ref feedring.FeedRef, after feedring.Position, fresh, old time.Time) (time.Time, error) {
	if ref.Publisher == r.Self {
		return time.Time{}, nil
	}
	h, ok := r.Store.Head(ref)
	next := feedring.Position{Epoch: after.Epoch, Sequence: after.Sequence + 1}
	if !ok || h.Private || h.Count == 0 || h.First.Compare(next) <= 0 {
		return time.Time{}, nil
	}
	at, err := DroppedTo(r.Store, h.Theme.Group(), fresh)
	if old.After(fresh) && old.After(at) {
		at = old
	}
	return at, err
}

func droppedKey(g feedring.GroupID) string { return fmt.Sprintf("dropped/%x", g[:]) }

// DroppedTo returns up to when copies of a group were dropped; zero: not beyond
// fresh.
func DroppedTo(s *store.Store, g feedring.GroupID, fresh time.Time) (time.Time, error) {
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
func (r *Replicator) prune(before time.Time, keep func(feedring.FeedRef) bool) error {
	done, err := r.copies.beforePrune(r.ctx, before, keep)
	if err == nil {
		_, err = r.Store.Prune(r.ctx, before, keep)
	}
	done()
	return err
}

func (r *Replicator) nextPrune() (feedring.GroupID, time.Time, bool) {
	r.prunes.mu.Lock()
	defer r.prunes.mu.Unlock()
	for g, t := range r.prunes.waiting {
		delete(r.prunes.waiting, g)
		return g, t, true
	}
	r.prunes.busy = false
	return feedring.GroupID{}, time.Time{}, false
}

// abandonedEvery is how often groups are looked at that this peer has left.
const abandonedEvery = time.Hour

// CollectGarbage drops copies of groups that this peer has left, until the peer stops.
func (r *Replicator) CollectGarbage(groups Groups) {
	tick := time.NewTicker(min(abandonedEvery, r.Freshness))
	defer tick.Stop()
	for {
		r.dropAbandoned(groups)
		select {
		case <-r.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// dropAbandoned runs while no feed is added or removed: a group that is entered again
// meanwhile would count on what is dropped.
func (r *Replicator) dropAbandoned(groups Groups) {
	groups.WhileOffered(func(offered map[feedring.Theme][]feedring.Feed) {
		err := r.abandoned(r.Machine.Now().Add(-r.Freshness), offered)
		if err != nil && r.ctx.Err() == nil {
			r.Log.Warn("entries of abandoned groups could not be dropped", "err", err)
		}
	})
}

// abandoned drops what others published into groups that this peer has left: entries seen
// before a time, and feeds of which no entry is left. It spares fresh entries: an owner
// who replaces the only feed of a theme leaves the group for a moment, and should not
// have to poll everything again.
func (r *Replicator) abandoned(before time.Time, offered map[feedring.Theme][]feedring.Feed) error {
	kept := func(h store.Head) bool {
		_, in := offered[h.Theme]
		return in || h.Private || h.Ref.Publisher == r.Self
	}
	err := r.prune(before, func(ref feedring.FeedRef) bool {
		h, ok := r.Store.Head(ref)
		return !ok || kept(h)
	})
	if err != nil {
		return fmt.Errorf("dropping entries of groups that were left: %w", err)
	}
	for _, h := range r.Store.HeadsWhere(func(h *store.Head) bool { return h.Count == 0 && !kept(*h) }) {
		if err := cmp.Or(r.Store.Forget(r.ctx, h.Ref), r.copies.forget(r.ctx, h.Ref)); err != nil {
			return fmt.Errorf("forgetting feeds of groups that were left: %w", err)
		}
	}
	return nil
}
