package replicate

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/store"
)

// copies knows since when each copy is without a gap, on a peer that keeps others'
// entries for longer than they are fresh. It never claims more than is stored: what
// shortens a reach is written before the store changes, what lengthens it after. A nil
// *copies belongs to a peer that keeps none.
type copies struct {
	Config

	mu    sync.Mutex
	reach map[feedring.FeedRef]time.Time // zero: from the first entry of the log on
	keep  time.Duration                  // less than was asked for where the disk was full
	cut   time.Time                      // when that was
}

// openCopies loads the reach of each copy. On a peer that keeps none it deletes them:
// nobody would note what is dropped meanwhile.
func openCopies(ctx context.Context, cfg Config) (*copies, error) {
	saved := map[feedring.FeedRef]time.Time{}
	for record, err := range cfg.Store.List(store.BucketCopy) {
		if err != nil {
			return nil, err
		}
		if ref, since, ok := readReach(record); ok {
			saved[ref] = since
		}
	}
	if cfg.Keep == 0 {
		if len(saved) == 0 {
			return nil, nil
		}
		return nil, cfg.Store.DeleteRange(ctx, store.BucketCopy, "", "\xff")
	}
	c := &copies{Config: cfg, keep: cfg.Keep, reach: map[feedring.FeedRef]time.Time{}}
	for _, h := range cfg.Store.HeadsWhere(func(h *store.Head) bool { return !h.Private && h.Ref.Publisher != cfg.Self }) {
		since, ok := saved[h.Ref]
		if !ok {
			since = c.sinceInLog(&h)
		}
		c.reach[h.Ref] = since
	}
	return c, nil
}

// sinceInLog is how far the log at h surely reaches, whatever filled it.
func (c *copies) sinceInLog(h *store.Head) time.Time {
	if h.Count == 0 || h.First.Epoch != h.Last.Epoch || h.Last.Sequence-h.First.Sequence+1 != uint64(h.Count) {
		return h.Seen
	}
	if h.First.Sequence == 1 {
		return time.Time{}
	}
	first, err := c.Store.Get(h.Ref, h.First)
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
	if was, known := c.since(ref); known && !since.After(was) {
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
	if err := c.Store.Put(ctx, store.BucketCopy, reachKey(ref), value); err != nil {
		if err := c.Store.Delete(ctx, store.BucketCopy, reachKey(ref)); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reach[ref] = since
	return nil
}

func (c *copies) since(ref feedring.FeedRef) (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	since, ok := c.reach[ref]
	return since, ok
}

// beforeAppend notes the reach of a copy to which a poll appends items after last. The
// caller calls stored when they are on disk.
func (c *copies) beforeAppend(ctx context.Context, o group.Fetch, last feedring.Position, items []store.Item) (stored func() error, err error) {
	stored = func() error { return nil }
	if c == nil {
		return stored, nil
	}
	was, known := c.since(o.Feed)
	if last.IsZero() {
		last = o.After // nothing of what was told there was to be stored
	}
	since := sinceAfter(o, last, was, known, items)
	switch {
	case known && since.Equal(was):
		return stored, nil
	case known && since.After(was):
		return stored, c.raise(ctx, o.Feed, since)
	}
	return func() error { return c.set(ctx, o.Feed, since) }, nil
}

// sinceAfter is the reach of a copy that reached to was, with its newest entry at last,
// after items are appended. A publisher leaves out only what it first had before the
// time that is asked for. Others may lack what comes before the first item that they
// send.
func sinceAfter(o group.Fetch, last feedring.Position, was time.Time, known bool, items []store.Item) time.Time {
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

// afterPoll tells the machine the reach after a poll that showed entries up to known. If
// none of them was to be stored and none is held, nothing is missing since o.Fresh.
func (c *copies) afterPoll(o group.Fetch, known feedring.Head) {
	if c == nil || o.Proof {
		return
	}
	if _, held := c.Store.Head(o.Feed); !held && !known.Position.IsZero() && o.After.IsZero() {
		c.mu.Lock()
		c.reach[o.Feed] = o.Fresh
		c.mu.Unlock()
	}
	c.announce(o.Group, o.Feed)
}

func (c *copies) announce(g feedring.GroupID, ref feedring.FeedRef) {
	if since, ok := c.since(ref); ok {
		h, _ := c.Store.Head(ref)
		c.Machine.Tell(g, group.Kept{Copies: []group.Copy{{Feed: ref, Since: since, Provider: c.provider(&h)}}})
	}
}

// provider is of the newest entry that is held.
func (c *copies) provider(h *store.Head) feedring.Provider {
	if h.Count == 0 || h.Private {
		return ""
	}
	it, err := c.Store.Get(h.Ref, h.Last)
	if err != nil {
		return ""
	}
	return it.Provider
}

// shortenEvery lets the disk get the room back that was freed.
const shortenEvery = time.Hour

// full halves the time for which copies are kept, down to freshness: the disk has no
// room. It returns the time before which copies are to be dropped.
func (c *copies) full(now time.Time) (before time.Time, shorter bool) {
	if c == nil {
		return before, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keep <= c.Freshness || now.Sub(c.cut) < shortenEvery {
		return before, false
	}
	c.keep, c.cut = max(c.Freshness, c.keep/2), now
	c.Log.Warn("the disk is full: copies of others' entries are kept for a shorter time until the next start", "keep", c.keep)
	return now.Add(-c.keep), true
}

// pruneDate returns the time before which a group's copies are dropped, if the machine
// says before.
func (c *copies) pruneDate(before, now time.Time) time.Time {
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

// beforePrune shortens the reach of the copies that a prune is going to shorten: of all
// feeds but those that keep reports true for. The caller calls done after the prune.
func (c *copies) beforePrune(ctx context.Context, before time.Time, keep func(feedring.FeedRef) bool) (done func(), err error) {
	var shorter []store.Head
	done = func() {
		for _, h := range shorter {
			c.announce(h.Theme.Group(), h.Ref)
		}
	}
	if c == nil {
		return done, nil
	}
	for _, h := range c.Store.HeadsWhere(func(h *store.Head) bool { return h.Count > 0 && !h.Private && h.Ref.Publisher != c.Self }) {
		if keep(h.Ref) {
			continue
		}
		first, err := c.Store.Get(h.Ref, h.First)
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

// forget deletes the reach of a feed of which nothing is held any more.
func (c *copies) forget(ctx context.Context, ref feedring.FeedRef) error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	delete(c.reach, ref)
	c.mu.Unlock()
	return c.Store.Delete(ctx, store.BucketCopy, reachKey(ref))
}

// announceAll tells the membership of a group how far all copies reach.
func (c *copies) announceAll(g feedring.GroupID) {
	if c == nil {
		return
	}
	var all []group.Copy
	for _, h := range c.Store.HeadsWhere(func(h *store.Head) bool { return !h.Private && h.Theme.Group() == g }) {
		if since, ok := c.since(h.Ref); ok {
			all = append(all, group.Copy{Feed: h.Ref, Since: since, Provider: c.provider(&h)})
		}
	}
	for part := range slices.Chunk(all, 1000) {
		c.Machine.Tell(g, group.Kept{Copies: part})
	}
}
