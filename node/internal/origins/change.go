package origins

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/storage"
)

// addAll keeps feeds over restarts and fetches them; what it says of each is at
// its place. The group hears of all at once. titles are shown until their documents
// are read; nil: none.
func (o *Feeds) addAll(ctx context.Context, specs []feedring.FeedSpec, titles []string) []web.Added {
	o.changing.Lock()
	defer o.changing.Unlock()
	said := make([]web.Added, len(specs))
	specs, moves := o.recogniseAll(specs)
	o.keepCarried(ctx, specs)
	fresh := o.fresh(specs, said)
	o.moveAll(ctx, specs, moves, said)
	fresh = slices.DeleteFunc(fresh, func(i int) bool { return said[i].Err != nil })
	for chunk := range slices.Chunk(fresh, addedAtOnce) {
		if err := o.keep(ctx, specs, titles, chunk); err != nil {
			for _, i := range chunk {
				said[i].Err = storage.NotKept(specs[i].URL+" was not added", err)
			}
		}
	}
	o.reweigh(ctx, specs, said)
	for i := range specs {
		if said[i].Known {
			o.fetchAgain(specs[i].URL)
		}
	}
	if len(fresh) == 0 {
		return said
	}
	o.Offers.Now() // before a fetch finds what is to be published
	for _, i := range fresh {
		if said[i].Err != nil {
			continue
		}
		o.watch(specs[i].URL)
		o.fetchAgain(specs[i].URL)
	}
	return said
}

// recogniseAll is recognise of several. moves has the new address of each that is
// to be moved, by its place.
func (o *Feeds) recogniseAll(specs []feedring.FeedSpec) (known []feedring.FeedSpec, moves map[int]string) {
	known, moves = slices.Clone(specs), make(map[int]string)
	for i, given := range specs {
		spec, ok := o.recognise(given)
		if known[i] = spec; ok {
			moves[i] = given.URL
		}
	}
	return known, moves
}

// moveAll moves those that are not refused.
func (o *Feeds) moveAll(ctx context.Context, specs []feedring.FeedSpec, moves map[int]string, said []web.Added) {
	for i, to := range moves {
		if said[i].Err != nil {
			continue
		}
		switch err := o.addresses.Move(ctx, o.Store, specs[i].URL, to, specs[i].Provider); {
		case err != nil:
			said[i].Err = storage.NotKept(to+" was not added", err)
		case said[i].Known:
			o.askAnew(specs[i].URL)
		}
	}
}

// fetchAgain fetches a feed once more that its origin removed, since it was added
// again: somebody says that it is there. It does the same for a known feed that was
// just previewed.
func (o *Feeds) fetchAgain(url string) {
	st, err := o.State(url)
	previewed := !st.LastFetch.IsZero() && o.parts.Previews != nil && o.parts.Previews.Holds(url)
	if err != nil || !st.Gone && !previewed {
		return
	}
	o.fetchFirst(url)
	o.watch(url) // or when it is its turn
}

// fetchFirst has a feed fetched as soon as it is watched: it was added again, or its
// document is forgotten while it is withheld.
func (o *Feeds) fetchFirst(url string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.feeds.Get(url); f != nil {
		f.revived = true
	}
}

// revive fetches a feed that was added again, or is withheld no longer, if it is watched.
func (o *Feeds) revive(url string) {
	if _, err := o.watcher.Fetch(url); err != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.feeds.Get(url); f != nil {
		f.revived = false
	}
}

// fresh returns the places of those that are to be kept, and says of the others
// why not.
func (o *Feeds) fresh(specs []feedring.FeedSpec, said []web.Added) []int {
	o.mu.Lock()
	defer o.mu.Unlock()
	var fresh []int
	named := make(map[string]int) // places
	public, private := o.count()
	for i, spec := range specs {
		var known feedring.FeedSpec
		f := o.feeds.Get(spec.URL)
		if f != nil {
			known = f.spec()
			spec = withTheme(known, spec)
		}
		first, twice := named[spec.URL]
		switch ok := f != nil; {
		case ok && sameFeed(known, spec):
			if said[i].Known = true; spec.Weight != 0 && spec.Weight != known.Weight && f.fixed {
				said[i] = web.Added{Err: &web.KnownFeedError{Known: known, Requested: spec}}
			}
		case ok:
			said[i].Err = &web.KnownFeedError{Known: known, Requested: spec}
		case twice && sameFeed(specs[first], spec):
			said[i].Known = true // lists name a feed in each of its folders
		case twice:
			said[i].Err = fmt.Errorf("%s is named twice: the first is taken", spec.URL)
		case spec.Theme != "" && public == feedring.MaxFeeds:
			said[i].Err = errTooManyFeeds
		case spec.Theme == "" && private == maxPrivate:
			said[i].Err = errTooManyPrivate
		default:
			if spec.Theme == "" {
				private++
			} else {
				public++
			}
			fresh = append(fresh, i)
			named[spec.URL] = i
		}
	}
	return fresh
}

// withTheme fills in the theme of a known feed where it is added again with a weight alone. Only a
// feed that is not known yet is private for want of a theme.
func withTheme(known, asked feedring.FeedSpec) feedring.FeedSpec {
	usual := known.Provider == asked.Provider || asked.Provider == feedring.ProviderOf(asked.URL)
	if asked.Weight != 0 && asked.Theme == "" && usual {
		asked.Theme, asked.Provider, asked.Share = known.Theme, known.Provider, known.Share
	}
	return asked
}

// sameFeed reports whether a feed that is asked for is the known one: who names
// no file means it however it is read, and whatever its weight is.
func sameFeed(known, asked feedring.FeedSpec) bool {
	if asked.File == "" {
		known.File = ""
	}
	known.Weight, asked.Weight = 0, 0
	return known == asked
}

// reweigh gives known feeds the weights that they were added with again.
func (o *Feeds) reweigh(ctx context.Context, specs []feedring.FeedSpec, said []web.Added) {
	for i, asked := range specs {
		spec, ok := o.Spec(asked.URL)
		if !ok || !said[i].Known || asked.Weight == 0 || asked.Weight == spec.Weight {
			continue
		}
		spec.Weight = asked.Weight
		if err := o.rewrite(ctx, spec); err != nil {
			said[i] = web.Added{Err: storage.NotKept("the weight of "+spec.URL+" was not changed", err)}
			continue
		}
		o.mu.Lock()
		if f := o.feeds.Get(spec.URL); f != nil {
			f.at, f.length, f.more = 0, 0, newOrigin(spec).more
		}
		o.mu.Unlock()
	}
}

// rewrite keeps what is asked for of a feed that was added, and when that was.
func (o *Feeds) rewrite(ctx context.Context, spec feedring.FeedSpec) error {
	value, err := o.Store.Value(store.BucketFeed, addedFeed+spec.URL)
	if err != nil {
		return err
	}
	var row addedRow
	if err := json.Unmarshal(value, &row); err != nil {
		return err
	}
	row.FeedSpec = spec
	if value, err = json.Marshal(row); err != nil {
		return err
	}
	return o.Store.Put(ctx, store.BucketFeed, addedFeed+spec.URL, value)
}

// keep writes those at the places down, and of which nothing is known what they
// are called.
func (o *Feeds) keep(ctx context.Context, specs []feedring.FeedSpec, titles []string, places []int) error {
	records := make([]store.Record, 0, len(places))
	for _, i := range places {
		value, err := json.Marshal(addedRow{specs[i], time.Now().UTC()})
		if err != nil {
			return err
		}
		records = append(records, store.Record{Key: addedFeed + specs[i].URL, Value: value})
		if len(titles) == 0 || titles[i] == "" {
			continue
		}
		if known, err := o.kept(specs[i].URL); err != nil || !known.LastFetch.IsZero() {
			continue
		}
		called, err := fetch.State{URL: specs[i].URL, Title: titles[i]}.MarshalBinary()
		if err != nil {
			return err
		}
		records = append(records, store.Record{Key: feedState + specs[i].URL, Value: called})
	}
	if err := o.Store.PutAll(ctx, store.BucketFeed, records); err != nil {
		return err
	}
	for _, i := range places {
		f := newOrigin(specs[i])
		f.moved = o.moved(specs[i])
		var st fetch.State
		if !f.moved {
			var err error
			if st, err = o.kept(f.url); err != nil {
				return err
			}
		}
		st = o.placed(f.url, st)
		if f.theme() != "" {
			f.failing = st.LastError != ""
		}
		o.serve(f.spec(), &st)
		o.mu.Lock()
		o.set(f)
		if f.theme() != "" {
			o.call(f.url, publicTitle(&st))
		}
		o.mu.Unlock()
	}
	return nil
}

// remove stops fetching a feed and offering it. Its log stays in the store,
// so that it goes on where it stopped when it is added again: no entry twice, no
// position twice. What was published stays public, as at the peers that have
// it; what was private is shown no more.
func (o *Feeds) remove(ctx context.Context, url string) error {
	o.changing.Lock()
	defer o.changing.Unlock()
	o.mu.Lock()
	f := o.feeds.Get(url)
	o.mu.Unlock()
	switch {
	case f == nil:
		return notOurs(url)
	case f.carried() > 0:
		return &web.CarriedError{URL: url}
	case f.fixed:
		return &web.FixedError{Name: url, Flag: "feed"}
	}
	if err := o.Store.Delete(ctx, store.BucketFeed, addedFeed+url); err != nil {
		return storage.NotKept(url+" was not removed", err)
	}
	o.drop(ctx, url)
	o.Offers.Now()
	return nil
}

// drop forgets a feed of this peer's, but for its log and what is known of its origin. changing is held.
func (o *Feeds) drop(ctx context.Context, url string) {
	o.mu.Lock()
	f := o.feeds.Get(url)
	o.mu.Unlock()
	if f == nil {
		return
	}
	o.watcher.Remove(url)
	o.Cache.Withdraw(url)
	o.keepBackoff(f)
	o.mu.Lock()
	o.feeds.Delete(url)
	delete(o.titles, url)
	delete(o.few, url)
	o.mu.Unlock()
	o.ceased(url)
	if err := o.save(ctx, url); err != nil {
		o.Log.Warn("what is known of a feed was not saved", "url", url, "err", err)
	}
	o.mu.Lock()
	o.recent.drop(url)
	o.mu.Unlock()
}
