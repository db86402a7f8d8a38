package origins

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/store"
)

// saveTimesEvery is how often what changes with each fetch is put on disk: fetches
// may be a second apart.
const saveTimesEvery = 2 * time.Minute

const saveAllWithin = 500 * time.Millisecond // of the time to close

// heldLong is how long an origin must ask to be left alone for it to be put on
// disk at once. A shorter time is over when a process that was killed runs again.
const heldLong = 5 * time.Second

// mostUnsaved is how many states are kept in memory that the disk does not take.
const mostUnsaved = 1_000

// dirtyStates is what fetches left that is not to be read from disk: of feeds that are
// fetched again soon, that the disk did not take, or that are just fetched. Of
// very many feeds these are few. The zero dirtyStates is empty.
type dirtyStates struct{ feeds map[string]*recent }

// recent is what fetches left of one feed.
type recent struct {
	state   fetch.State // what the last fetch left
	saved   fetch.State // what the disk has; its entries are left out
	known   int         // entries that the disk has
	at      time.Time   // when it was saved; zero: it was not
	written int64       // Unix nanoseconds of the last fetch that is on disk; 0: none
}

// of is what fetches left of a feed; nil: all is on disk.
func (l *dirtyStates) of(url string) *recent { return l.feeds[url] }

func (l *dirtyStates) drop(url string) { delete(l.feeds, url) }

func (l *dirtyStates) keep(url string) *recent {
	r := l.feeds[url]
	if r == nil {
		r = new(recent)
		if l.feeds == nil {
			l.feeds = make(map[string]*recent)
		}
		l.feeds[url] = r
	}
	return r
}

// remember takes in what a fetch left, and reports whether it is to be put on
// disk: where the next fetch is not soon, where something is new that a later
// fetch would not find again, where the origin asked to be left alone, or where
// dates and validators were not saved for long.
func (l *dirtyStates) remember(url string, st *fetch.State, now time.Time) (due bool) {
	r := l.keep(url)
	r.state = *st
	if !r.isWritten() {
		return r.due(now)
	}
	l.settle(url, now) // it was saved with its entries
	return false
}

// wrote takes in that a state is on disk. It is kept until its fetch has ended.
func (l *dirtyStates) wrote(url string, st *fetch.State, now time.Time) {
	r := l.keep(url)
	if r.state.LastFetch.Before(st.LastFetch) { // else it may be newer
		r.state = *st
	}
	r.saved, r.at, r.written = st.WithoutKnown(), now, st.LastFetch.UnixNano()
	if st.Loaded() {
		r.known = st.Known()
	}
}

// settle drops what the disk has, where the next fetch is not soon.
func (l *dirtyStates) settle(url string, now time.Time) {
	if r := l.of(url); r != nil && r.isWritten() && !soon(&r.state, now) {
		l.drop(url)
	}
}

func (r *recent) isWritten() bool { return r.written == r.state.LastFetch.UnixNano() }

// soon reports whether a feed is fetched again before its state is worth
// writing down.
func soon(st *fetch.State, now time.Time) bool {
	return !st.Gone && st.NextFetch.Sub(now) < saveTimesEvery
}

func (r *recent) due(now time.Time) bool {
	old, st := &r.saved, &r.state
	switch {
	case r.at.IsZero(), old.Title != st.Title, old.Feedring != st.Feedring, old.NoMirrors != st.NoMirrors, old.Moved != st.Moved, old.Address != st.Address, old.Named != st.Named,
		old.ByLink != st.ByLink, old.LastError != st.LastError, st.Loaded() && r.known != st.Known(),
		(old.Failures == 0) != (st.Failures == 0), old.Refused != st.Refused, old.Gone != st.Gone,
		st.NotBefore.After(old.NotBefore) && st.NotBefore.Sub(now) > heldLong:
		return true
	}
	return now.Sub(r.at) >= saveTimesEvery || !soon(st, now)
}

// State returns what is known of a feed, as the watcher asks for it. A state that
// cannot be read only costs an unconditional fetch. Nothing is known of a feed
// that was published elsewhere before, since its new group has none of its
// entries, or that is to be published whole (claim).
func (o *Feeds) State(url string) (fetch.State, error) {
	st, fixed, err := o.left(url)
	if err == nil && st.LastSuccess.IsZero() {
		st.Offered, err = o.offeredSince(url, fixed)
	}
	return o.placed(url, st), err
}

// left is State as the last fetch left it.
func (o *Feeds) left(url string) (_ fetch.State, fixed bool, _ error) {
	o.mu.Lock()
	if f := o.feeds.Get(url); f != nil {
		fixed = f.fixed
		if f.moved {
			o.mu.Unlock()
			return fetch.State{}, fixed, nil
		}
		if r := o.recent.of(url); r != nil {
			defer o.mu.Unlock()
			return r.state, fixed, nil
		}
	}
	o.mu.Unlock()
	st, err := o.kept(url)
	return st, fixed, err
}

// kept is State of what is on disk.
func (o *Feeds) kept(url string) (fetch.State, error) {
	value, err := o.Store.Value(store.BucketFeed, feedState+url)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fetch.State{}, nil
	case err != nil:
		return fetch.State{}, err
	}
	return o.decode(url, value), nil
}

func (o *Feeds) decode(url string, value []byte) (st fetch.State) {
	if err := st.UnmarshalBinary(value); err != nil {
		o.Log.Warn("what was known of a feed is unreadable: it is fetched as a new one", "url", url, "err", err)
		return fetch.State{}
	}
	return st
}

// Known returns the entries that belong to State, as the watcher asks for them.
func (o *Feeds) Known(url string) ([]byte, error) {
	value, err := o.Store.Value(store.BucketFeed, feedKnown+url)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return value, err
}

// remembers takes in what a fetch of f left, and reports whether it is to be put on
// disk. o.mu is held.
func (o *Feeds) remembers(f *origin, st *fetch.State) (due bool) {
	f.moved = false
	return o.recent.remember(f.url, st, time.Now())
}

// save puts on disk what the last fetch left.
func (o *Feeds) save(ctx context.Context, url string) error {
	o.mu.Lock()
	r := o.recent.of(url)
	if r == nil || r.isWritten() {
		o.mu.Unlock()
		return nil
	}
	st := r.state
	o.mu.Unlock()
	if err := o.put(ctx, url, st); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.recent.settle(url, time.Now())
	return nil
}

// put writes a state, and with it its entries where they are there: nothing
// changed them otherwise.
func (o *Feeds) put(ctx context.Context, url string, st fetch.State) error {
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
	if err := o.Store.PutAll(ctx, store.BucketFeed, records); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.feeds.Get(url) != nil { // it was not removed meanwhile
		o.recent.wrote(url, &st, time.Now())
	}
	return nil
}

// forgetSome drops states that the disk does not take, where they grow too many:
// to lose one costs an unconditional fetch.
func (o *Feeds) forgetSome() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.unsaved++; o.unsaved < mostUnsaved {
		return
	}
	o.unsaved = 0
	o.recent = dirtyStates{}
}

// SaveAll puts on disk what was spared: the schedule goes on after a restart.
func (o *Feeds) SaveAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, saveAllWithin)
	defer cancel()
	o.mu.Lock()
	urls := slices.Collect(maps.Keys(o.recent.feeds))
	o.mu.Unlock()
	for _, url := range urls {
		if err := o.save(ctx, url); err != nil {
			o.Log.Warn("what is known of a feed was not saved", "url", url, "err", err)
			return
		}
	}
}
