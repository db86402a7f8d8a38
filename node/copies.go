package node

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/store"
)

// copies knows how far the copies reach of a peer that keeps others' entries for
// longer than they are fresh: since when each is without a gap. It never says
// more than is stored: what shortens a reach is on disk before the store
// changes, what lengthens one is put there after. A nil *copies is of a peer that
// keeps none.
type copies struct {
	store *store.Store
	self  feedring.PeerID
	log   *slog.Logger
	tell  func(feedring.GroupID, group.Input)
	fresh time.Duration

	mu    sync.Mutex
	reach map[feedring.FeedRef]time.Time // zero: from the first entry of the log on
	keep  time.Duration                  // less than was asked for where the disk was full
	cut   time.Time                      // when that was
}

// openCopies loads what is known, or for a peer that keeps none forgets it: what
// it drops meanwhile nobody would note.
func openCopies(ctx context.Context, s *store.Store, self feedring.PeerID, fresh, keep time.Duration, log *slog.Logger) (*copies, error) {
	saved := map[feedring.FeedRef]time.Time{}
	for record, err := range s.List(store.BucketCopy) {
		if err != nil {
			return nil, err
		}
		if ref, since, ok := readReach(record); ok {
			saved[ref] = since
		}
	}
	if keep == 0 {
		if len(saved) == 0 {
			return nil, nil
		}
		return nil, s.DeleteRange(ctx, store.BucketCopy, "", "\xff")
	}
	c := &copies{store: s, self: self, log: log, fresh: fresh, keep: keep, reach: map[feedring.FeedRef]time.Time{}}
	for _, h := range s.HeadsWhere(func(h *store.Head) bool { return !h.Private && h.Ref.Publisher != self }) {
		since, ok := saved[h.Ref]
		if !ok {
			since = c.reachOf(&h)
		}
		c.reach[h.Ref] = since
	}
	return c, nil
}

// reachOf is how far the log at h surely reaches, whatever filled it.
func (c *copies) reachOf(h *store.Head) time.Time {
	if h.Count == 0 || h.First.Epoch != h.Last.Epoch || h.Last.Sequence-h.First.Sequence+1 != uint64(h.Count) {
		return h.Seen
	}
	if h.First.Sequence == 1 {
		return time.Time{}
	}
	first, err := c.store.Get(h.Ref, h.First)
	if err != nil {
		return h.Seen
	}
	return first.Seen
}

func reachKey(ref feedring.FeedRef) string { return string(ref.Publisher) + " " + ref.URL }

func readReach(r store.Record) (ref feedring.FeedRef, since time.Time, ok bool) {
	publisher, url, ok := strings.Cut(r.Key, " ")
	if !ok || len(r.Value) != 8 {
		return ref, since, false
	}
	if ms := binary.BigEndian.Uint64(r.Value); ms > 0 {
		since = time.UnixMilli(int64(ms)).UTC()
	}
	return feedring.FeedRef{URL: url, Publisher: feedring.PeerID(publisher)}, since, true
}

// raise notes that a copy reaches no farther back than since.
func (c *copies) raise(ctx context.Context, ref feedring.FeedRef, since time.Time) error {
	if was, known := c.of(ref); known && !since.After(was) {
		return nil
	}
	return c.set(ctx, ref, since)
}

// set notes how far a copy reaches, on disk first. Where the disk has no room it
// forgets what is there: the next start then looks at the log.
func (c *copies) set(ctx context.Context, ref feedring.FeedRef, since time.Time) error {
	value := make([]byte, 8)
	if !since.IsZero() {
		since = since.UTC().Truncate(time.Millisecond).Add(time.Millisecond) // never sooner than it is
		binary.BigEndian.PutUint64(value, uint64(since.UnixMilli()))
	}
	if err := c.store.Put(ctx, store.BucketCopy, reachKey(ref), value); err != nil {
		if err := c.store.Delete(ctx, store.BucketCopy, reachKey(ref)); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reach[ref] = since
	return nil
}

func (c *copies) of(ref feedring.FeedRef) (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	since, ok := c.reach[ref]
	return since, ok
}

// comes is told of the items that a poll stores next, after last. What it returns
// is called when they are on disk.
func (c *copies) comes(ctx context.Context, o group.Fetch, last feedring.Position, items []store.Item) (stored func() error, err error) {
	stored = func() error { return nil }
	if c == nil {
		return stored, nil
	}
	was, known := c.of(o.Feed)
	if last.IsZero() {
		last = o.After // nothing of what was told there was to be stored
	}
	since := after(o, last, was, known, items)
	switch {
	case known && since.Equal(was):
		return stored, nil
	case known && since.After(was):
		return stored, c.raise(ctx, o.Feed, since)
	}
	return func() error { return c.set(ctx, o.Feed, since) }, nil
}

// after is how far a copy that reached to was, with its newest entry at last,
// reaches with items. A publisher leaves nothing out but what it first had before
// it was asked for; others may lack what comes before the first that they send.
func after(o group.Fetch, last feedring.Position, was time.Time, known bool, items []store.Item) time.Time {
	since := was
	for i := range items {
		at := items[i].Position
		follows := at.Sequence == 1 || at.Epoch == last.Epoch && at.Sequence == last.Sequence+1
		from := items[i].Seen
		if o.From == o.Feed.Publisher && o.Fresh.Before(from) {
			from = o.Fresh
		}
		switch {
		case last.IsZero() && at.Sequence == 1:
			since = time.Time{}
		case last.IsZero(), !known && i == 0:
			since = from
		case !follows && from.After(since):
			since = from
		}
		last = at
	}
	return since
}

// polled is told of the end of a poll, with the newest entry that it showed, and
// tells the machine what it changed. Where nothing that the other side has was to be stored, and nothing
// is held, nothing is lacking since then.
func (c *copies) polled(o group.Fetch, known feedring.Head) {
	if c == nil || o.Proof {
		return
	}
	if _, held := c.store.Head(o.Feed); !held && !known.Position.IsZero() && o.After.IsZero() {
		c.mu.Lock()
		c.reach[o.Feed] = o.Fresh
		c.mu.Unlock()
	}
	c.tellOf(o.Group, o.Feed)
}

func (c *copies) tellOf(g feedring.GroupID, ref feedring.FeedRef) {
	if since, ok := c.of(ref); ok {
		h, _ := c.store.Head(ref)
		c.tell(g, group.Kept{Copies: []group.Copy{{Feed: ref, Since: since, Provider: c.provider(&h)}}})
	}
}

// provider is of the newest entry that is held.
func (c *copies) provider(h *store.Head) feedring.Provider {
	if h.Count == 0 || h.Private {
		return ""
	}
	it, err := c.store.Get(h.Ref, h.Last)
	if err != nil {
		return ""
	}
	return it.Provider
}

// shortenEvery lets the disk get the room back that was freed.
const shortenEvery = time.Hour

// full is told that the disk has no room. From then on copies are kept for half
// as long, down to freshness, and those that are older go.
func (c *copies) full(now time.Time) (before time.Time, shorter bool) {
	if c == nil {
		return before, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keep <= c.fresh || now.Sub(c.cut) < shortenEvery {
		return before, false
	}
	c.keep, c.cut = max(c.fresh, c.keep/2), now
	c.log.Warn("the disk is full: copies of others' entries are kept for a shorter time until the next start; make room on it, or keep copies for less time", "keep", c.keep)
	return now.Add(-c.keep), true
}

// drops is before when the copies of a group go that may go before a time.
func (c *copies) drops(before, now time.Time) time.Time {
	if c == nil {
		return before
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut.IsZero() || !now.Add(-c.keep).After(before) {
		return before
	}
	return now.Add(-c.keep)
}

// prunes is told that what was seen before a time goes from all feeds but those
// that keep reports true for. What it returns is called when that is done.
func (c *copies) prunes(ctx context.Context, before time.Time, keep func(feedring.FeedRef) bool) (done func(), err error) {
	var shorter []store.Head
	done = func() {
		for _, h := range shorter {
			c.tellOf(h.Theme.Group(), h.Ref)
		}
	}
	if c == nil {
		return done, nil
	}
	for _, h := range c.store.HeadsWhere(func(h *store.Head) bool { return h.Count > 0 && !h.Private && h.Ref.Publisher != c.self }) {
		if keep(h.Ref) {
			continue
		}
		first, err := c.store.Get(h.Ref, h.First)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return done, err
		}
		if !first.Seen.Before(before) {
			continue
		}
		if err := c.raise(ctx, h.Ref, before); err != nil {
			return done, err
		}
		shorter = append(shorter, h)
	}
	done() // before anything goes: nobody shall count on it
	return done, nil
}

// forget is told that nothing of a feed is held any more.
func (c *copies) forget(ctx context.Context, ref feedring.FeedRef) error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	delete(c.reach, ref)
	c.mu.Unlock()
	return c.store.Delete(ctx, store.BucketCopy, reachKey(ref))
}

// entered tells the membership of a group how far all copies reach.
func (c *copies) entered(g feedring.GroupID) {
	if c == nil {
		return
	}
	var all []group.Copy
	for _, h := range c.store.HeadsWhere(func(h *store.Head) bool { return !h.Private && h.Theme.Group() == g }) {
		if since, ok := c.of(h.Ref); ok {
			all = append(all, group.Copy{Feed: h.Ref, Since: since, Provider: c.provider(&h)})
		}
	}
	for part := range slices.Chunk(all, 1000) {
		c.tell(g, group.Kept{Copies: part})
	}
}
