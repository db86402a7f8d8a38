package origins

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/store"
)

// start has those feeds watched that are public or read from a file, from what is
// kept of each, and leaves hosts alone that asked for it.
func (o *Feeds) start() {
	o.backoffs().Restore(o.watcher)
	o.startFew()
}

// startPrivate has private feeds watched, of which there may be a million, until
// ctx ends. Meanwhile none is added or removed.
func (o *Feeds) startPrivate(ctx context.Context) {
	o.changing.Lock()
	defer o.changing.Unlock()
	o.goOnPrivate(ctx)
	if o.watcher.Len() == o.feeds.Len() || ctx.Err() != nil {
		return
	}
	for _, url := range o.urls() { // nothing is kept of it
		if o.Private(url) {
			o.watcher.Add(url, o.placed(url, fetch.State{})) // one that is watched stays as it is
		}
	}
}

func (o *Feeds) startFew() {
	defer o.assignments.lock()()
	o.mu.Lock()
	few := slices.Sorted(maps.Keys(o.few))
	o.mu.Unlock()
	for _, url := range few {
		f, ok := o.get(url)
		withheld := ok && o.withheld(&f)
		if withheld {
			o.fetchFirst(url)
		}
		if !ok || withheld || o.assignments.fetchedElsewhere(f.spec()) {
			continue
		}
		st, err := o.State(url)
		if err != nil {
			o.cannotRead(err)
		}
		o.watcher.Add(url, st)
	}
}

// goOnPrivate reads states in the order of the disk.
func (o *Feeds) goOnPrivate(ctx context.Context) {
	for record, err := range o.Store.ListPrefix(store.BucketFeed, feedState) {
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			o.cannotRead(err)
			return
		}
		if url, st, ok := o.ofPrivate(strings.TrimPrefix(record.Key, feedState), record.Value); ok {
			o.watcher.Add(url, o.placed(url, st))
		}
	}
}

func (o *Feeds) cannotRead(err error) {
	o.Log.Error("what is known of feeds cannot be read: each is fetched as its turn comes", "err", err)
}

// ofPrivate returns the state to go on from after a start, and the address as it
// is in memory already; false: this is no private feed of this peer's.
func (o *Feeds) ofPrivate(url string, value []byte) (string, fetch.State, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.feeds.Get(url)
	if f == nil || f.theme() != "" {
		return "", fetch.State{}, false
	}
	if f.moved = o.moved(f.spec()); f.moved {
		return f.url, fetch.State{}, true
	}
	return f.url, o.decode(url, value), true
}
