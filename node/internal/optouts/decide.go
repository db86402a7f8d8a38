package optouts

import (
	"context"
	"encoding/json"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/optout"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/vouch"
)

// naming is whether a site names this peer.
type naming int

const (
	notNamed naming = iota
	named
	unasked // it could not be asked
)

// decide finds out whether a word binds this peer for a feed of its own, where that is
// not known. It fails with ErrUnsettled.
func (k *Keeper) decide(ctx context.Context, url string, w *optout.Word) error {
	k.mu.Lock()
	old, decided := k.decisions[url]
	k.mu.Unlock()
	now := time.Now()
	own := w.Names(k.parts.Self) || k.vouched(feedring.FeedRef{URL: url, Publisher: k.parts.Self})
	stands := decided && old.By == w.Of && !old.At.IsZero() && (old.Bound || now.Sub(old.At) < certainFor)
	if stands && (!own || !old.Bound) {
		return nil
	}
	is := named
	if !own {
		is = k.names(ctx, url, k.parts.Feeds.Link(url))
	}
	switch {
	case is != unasked:
	case decided:
		return nil // what was found before stands
	case now.Sub(w.Since) < optout.EraseAfter:
		return ErrUnsettled
	}
	next := decision{Bound: is != named, At: now, By: w.Of}
	k.mu.Lock()
	k.decisions[url] = next
	k.changes.Add(1)
	k.mu.Unlock()
	k.write(ctx, decisionKey+url, next)
	if next.Bound == old.Bound {
		return nil
	}
	if next.Bound {
		k.log.Warn("a feed's publisher does not want it mirrored: this peer does not publish it any more, and erases what it holds of it", "url", url, "by", w.Of)
	}
	k.awake()
	return nil
}

// names asks the sites of a feed, and the feed, whether they name this peer.
func (k *Keeper) names(ctx context.Context, url, link string) naming {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	is := notNamed
	for _, site := range vouch.SitesOf(url) {
		v, err := k.parts.Sites.Check(ctx, site, k.parts.Self, []string{url}, vouch.Hearsay{})
		switch {
		case err != nil:
			is = unasked
		case v.Named:
			return named
		}
	}
	if link == "" {
		return is
	}
	v, err := k.parts.Sites.CheckFeed(ctx, url, link, k.parts.Self, vouch.Hearsay{})
	switch {
	case err != nil:
		is = unasked
	case v.Named:
		return named
	}
	return is
}

// allow forgets the decision on a feed that nothing is said against any more.
func (k *Keeper) allow(ctx context.Context, url string) {
	k.mu.Lock()
	delete(k.decisions, url)
	k.changes.Add(1)
	k.mu.Unlock()
	if err := k.records.Delete(ctx, store.BucketFeed, decisionKey+url); err != nil && ctx.Err() == nil {
		k.log.Warn("that a feed may be mirrored again was not saved", "url", url, "err", err)
	}
}

// write keeps a record over a restart. What is not kept is found out again.
func (k *Keeper) write(ctx context.Context, key string, value any) {
	b, err := json.Marshal(value)
	if err == nil {
		err = k.records.Put(context.WithoutCancel(ctx), store.BucketFeed, key, b)
	}
	if err != nil && ctx.Err() == nil {
		k.log.Warn("that a feed is not to be mirrored was not saved: it is found out again after a restart", "key", key, "err", err)
	}
}
