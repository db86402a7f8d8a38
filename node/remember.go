package node

import (
	"context"
	"errors"
	"time"

	"github.com/feedring/feedring/internal/feed"
	"github.com/feedring/feedring/internal/store"
)

// saveTimesEvery is how often what changes with each look is put on disk: looks
// may be a second apart.
const saveTimesEvery = 2 * time.Minute

const saveAllWithin = 500 * time.Millisecond // of the time to close

// heldLong is how long an origin must ask to be left alone for it to be put on
// disk at once. A shorter time is over when a process that was killed runs again.
const heldLong = 5 * time.Second

// mostUnsaved is how many states are kept in memory that the disk does not take.
const mostUnsaved = 1_000

// recent is what looks left of a feed that is looked at again soon, or that the
// disk did not take.
type recent struct {
	state feed.State // what the last look left
	saved feed.State // what the disk has; its entries are left out
	known int        // entries that the disk has
	at    time.Time  // when it was saved; zero: it was not
}

// remember takes in what a look left, and reports whether it is to be put on
// disk: where the next look is not soon, where something is new that a later
// look would not find again, where the origin asked to be left alone, or where
// dates and validators were not saved for long.
func (f *origin) remember(st *feed.State, now time.Time) (due bool) {
	f.moved = false
	if f.saved == st.LastLook.UnixNano() { // saved with its entries
		if f.recent == nil && soon(st, now) {
			f.recent = &recent{saved: st.WithoutKnown(), known: st.Known(), at: now}
		}
		if f.recent != nil {
			f.recent.state = *st
		}
		return false
	}
	if f.recent == nil {
		f.recent = new(recent)
	}
	f.recent.state = *st
	return f.recent.due(now)
}

// soon reports whether a feed is looked at again before its state is worth
// writing down.
func soon(st *feed.State, now time.Time) bool {
	return !st.Gone && st.NextLook.Sub(now) < saveTimesEvery
}

func (r *recent) due(now time.Time) bool {
	old, st := &r.saved, &r.state
	switch {
	case r.at.IsZero(), old.Title != st.Title, old.Feedring != st.Feedring, old.Moved != st.Moved, old.Address != st.Address,
		old.ByLink != st.ByLink, old.LastError != st.LastError, st.Loaded() && r.known != st.Known(),
		(old.Failures == 0) != (st.Failures == 0), old.Gone != st.Gone,
		st.NotBefore.After(old.NotBefore) && st.NotBefore.Sub(now) > heldLong:
		return true
	}
	return now.Sub(r.at) >= saveTimesEvery || !soon(st, now)
}

// State returns what is known of a feed, as the watcher asks for it. A state that
// cannot be read only costs an unconditional look. Nothing is known of a feed
// that was published elsewhere before, since its new group has none of its
// entries, or that is to be published whole (claim).
func (o *origins) State(url string) (feed.State, error) {
	o.mu.Lock()
	if f := o.feeds.Get(url); f != nil {
		if f.moved {
			o.mu.Unlock()
			return feed.State{}, nil
		}
		if f.recent != nil {
			defer o.mu.Unlock()
			return f.recent.state, nil
		}
	}
	o.mu.Unlock()
	return o.kept(url)
}

// kept is State of what is on disk.
func (o *origins) kept(url string) (feed.State, error) {
	value, err := o.store.Value(store.BucketFeed, feedState+url)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return feed.State{}, nil
	case err != nil:
		return feed.State{}, err
	}
	return o.decode(url, value), nil
}

func (o *origins) decode(url string, value []byte) (st feed.State) {
	if err := st.UnmarshalBinary(value); err != nil {
		o.log.Warn("what was known of a feed is unreadable: looking afresh", "url", url, "err", err)
		return feed.State{}
	}
	return st
}

// Known returns the entries that belong to State, as the watcher asks for them.
func (o *origins) Known(url string) ([]byte, error) {
	value, err := o.store.Value(store.BucketFeed, feedKnown+url)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return value, err
}

// save puts on disk what the last look left.
func (o *origins) save(ctx context.Context, url string, f *origin) error {
	o.mu.Lock()
	if f.recent == nil || f.recent.state.LastLook.UnixNano() == f.saved {
		o.mu.Unlock()
		return nil
	}
	st := f.recent.state
	o.mu.Unlock()
	return o.put(ctx, url, f, st)
}

// put writes a state, and with it its entries where they are there: nothing
// changed them otherwise.
func (o *origins) put(ctx context.Context, url string, f *origin, st feed.State) error {
	value, err := st.MarshalBinary()
	if err != nil {
		return err
	}
	records := []store.Record{{Key: feedState + url, Value: value}}
	if st.Loaded() {
		known, err := st.MarshalKnown()
		if err != nil {
			return err
		}
		records = append(records, store.Record{Key: feedKnown + url, Value: known})
	}
	if err := o.store.PutAll(ctx, store.BucketFeed, records); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	f.saved = st.LastLook.UnixNano()
	switch {
	case f.recent == nil:
	case !soon(&st, now):
		f.recent = nil
	default:
		f.recent.saved, f.recent.at = st.WithoutKnown(), now
		if st.Loaded() {
			f.recent.known = st.Known()
		}
	}
	return nil
}

// forgetSome drops states that the disk does not take, where they grow too many:
// to lose one costs an unconditional look.
func (o *origins) forgetSome() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.unsaved++; o.unsaved < mostUnsaved {
		return
	}
	o.unsaved = 0
	for f := range o.feeds.All() {
		f.recent = nil
	}
}

// saveAll puts on disk what was spared: the schedule goes on after a restart.
func (o *origins) saveAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, saveAllWithin)
	defer cancel()
	o.mu.Lock()
	feeds := make(map[string]*origin)
	for f := range o.feeds.All() {
		if f.recent != nil {
			feeds[f.url] = f
		}
	}
	o.mu.Unlock()
	for url, f := range feeds {
		if err := o.save(ctx, url, f); err != nil {
			o.log.Warn("what is known of a feed was not saved", "url", url, "err", err)
			return
		}
	}
}
