package optouts

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/optout"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/vouch"
)

// Run withholds feeds, publishes them again, looks for words that were taken back,
// and erases, until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		k.sweep(ctx, time.Now())
		select {
		case <-ctx.Done():
			return
		case <-k.wake:
		case <-tick.C:
		}
	}
}

// sweep does all that is due.
func (k *Keeper) sweep(ctx context.Context, now time.Time) {
	k.save(ctx)
	k.settle(ctx)
	k.lookAgain(ctx, now)
	k.erase(ctx, now)
}

// save writes the words that changed.
func (k *Keeper) save(ctx context.Context) {
	k.mu.Lock()
	changed := slices.Sorted(maps.Keys(k.unsaved))
	clear(k.unsaved)
	words := make([]optout.Word, len(changed))
	there := make([]bool, len(changed))
	for i, of := range changed {
		words[i], there[i] = k.words.Of(of)
	}
	k.mu.Unlock()
	for i, of := range changed {
		if there[i] {
			k.write(ctx, wordKey+of, words[i])
			continue
		}
		if err := k.records.Delete(ctx, store.BucketFeed, wordKey+of); err != nil && ctx.Err() == nil {
			k.log.Warn("that a feed may be mirrored again was not saved", "by", of, "err", err)
		}
	}
}

// settle has each feed of this peer's published or withheld as the words say now.
func (k *Keeper) settle(ctx context.Context) {
	decided := k.decided()
	if !k.some.Load() && len(decided) == 0 {
		return
	}
	own := k.parts.Feeds.Bindable()
	for _, url := range own {
		if w, ok := k.against(url); ok {
			_ = k.decide(ctx, url, &w) // what is not settled is decided again
		}
	}
	for _, url := range decided {
		if _, ok := k.against(url); !ok {
			k.allow(ctx, url)
		}
	}
	for _, url := range own {
		k.apply(url)
	}
}

// apply has a feed published or withheld as it is decided, if that changed.
func (k *Keeper) apply(url string) {
	k.mu.Lock()
	withheld, was := k.decisions[url].Bound, k.applied[url]
	if withheld {
		k.applied[url] = true
	} else {
		delete(k.applied, url)
	}
	k.mu.Unlock()
	if withheld == was {
		return
	}
	if was {
		k.log.Info("this peer may publish a feed again: its publisher refuses mirrors no more, or names this peer", "url", url)
	}
	k.parts.Feeds.OptOutChanged(url)
}

// decided lists the feeds of which it is decided whether a word binds this peer.
func (k *Keeper) decided() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Sorted(maps.Keys(k.decisions))
}

// lookAgain asks whether words still hold, whose time has come.
func (k *Keeper) lookAgain(ctx context.Context, now time.Time) {
	k.mu.Lock()
	due := k.words.Due(now)
	k.mu.Unlock()
	if len(due) == 0 {
		return
	}
	own, offered := k.parts.Feeds.Bindable(), k.offered()
	for i := range due {
		w := &due[i]
		about := func(url string) bool {
			said, ok := k.against(url)
			return ok && said.Of == w.Of
		}
		at, mine := first(own, about)
		mirrored := mine
		if !mine {
			at, mirrored = first(offered, about)
		}
		if mirrored && (mine || !w.IsFeed()) {
			k.look(ctx, at)
			if mine {
				k.reopen(at)
			}
		}
		if ctx.Err() != nil {
			return
		}
		k.mu.Lock()
		if still, ok := k.words.Of(w.Of); ok && still.Next.Equal(w.Next) { // nothing was found out
			_, kept := k.words.Postpone(w.Of, mirrored, now)
			k.note(w.Of, !kept)
		}
		k.mu.Unlock()
	}
	k.save(ctx)
	k.settle(ctx)
}

// first finds the first of some addresses.
func first(urls []string, is func(string) bool) (string, bool) {
	if i := slices.IndexFunc(urls, is); i >= 0 {
		return urls[i], true
	}
	return "", false
}

// offered lists the feeds that other peers publish.
func (k *Keeper) offered() (urls []string) {
	v := k.parts.Views.View()
	if v == nil {
		return nil
	}
	for _, m := range v.Memberships {
		for i := range m.Members {
			if m.Members[i].Row.Peer == k.parts.Self {
				continue
			}
			for _, f := range m.Members[i].Row.Feeds {
				urls = append(urls, f.URL)
			}
		}
	}
	slices.Sort(urls)
	return slices.Compact(urls)
}

// erase forgets what is held of feeds that do not want to be mirrored, and does not
// come from a peer that their site names.
func (k *Keeper) erase(ctx context.Context, now time.Time) {
	if !k.some.Load() {
		return
	}
	held := k.records.HeadsWhere(func(h *store.Head) bool { return !h.Private && k.speaks(h.Ref.URL) })
	for _, h := range held {
		w, ok := k.against(h.Ref.URL)
		if !ok || ctx.Err() != nil {
			continue
		}
		own := h.Ref.Publisher == k.parts.Self
		switch {
		case !k.Hides(h.Ref) || !w.Erases(now, true):
			continue
		case !own && (now.Sub(k.started) < startsFor || k.spares(ctx, h.Ref, &w, now)):
			continue
		}
		k.parts.Lists.EraseFeed(h.Ref) // first: a crash leaves the feed to be erased again
		var err error
		if own {
			err = k.parts.Feeds.Erase(ctx, h.Ref.URL)
		} else {
			err = k.parts.Copies.Erase(ctx, h.Ref)
		}
		if err != nil {
			if ctx.Err() == nil {
				k.log.Warn("entries of a feed that does not want to be mirrored are not erased yet", "url", h.Ref.URL, "publisher", h.Ref.Publisher, "err", err)
			}
			continue
		}
		k.log.Info("erased what a mirror published of a feed that does not want to be mirrored", "url", h.Ref.URL, "publisher", h.Ref.Publisher, "by", w.Of)
	}
}

// spares reports whether a publisher may be its site's own: the site was asked and names
// it, or it could not be asked and there is time.
func (k *Keeper) spares(ctx context.Context, ref feedring.FeedRef, w *optout.Word, now time.Time) bool {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	certain := true
	for _, site := range vouch.SitesOf(ref.URL) {
		v, err := k.parts.Sites.Check(ctx, site, ref.Publisher, []string{ref.URL}, vouch.Hearsay{})
		if err == nil && v.Named {
			return true
		}
		certain = certain && err == nil
	}
	return !w.Erases(now, certain)
}

// speaks is Words.Speaks.
func (k *Keeper) speaks(url string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.words.Speaks(url)
}
