package origins

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/internal/readerfeeds/render"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/sealed"
)

const (
	standInEntries = 50          // of a document
	standInEvery   = time.Second // at most, all documents together
)

// StandIn keeps the documents of feeds that rest: pollers of this peer are served
// what the group has, while another peer looks at the origin.
func (o *Feeds) StandIn() {
	defer o.resting.Close()
	for {
		select {
		case <-o.ctx.Done():
			return
		case <-o.resting.Ready():
		}
		for _, ref := range o.resting.Take() {
			if ref.Publisher == o.Self {
				continue
			}
			if err := o.writeStandIn(o.ctx, ref.URL); err != nil && o.ctx.Err() == nil {
				o.Log.Warn("the document of a feed that another peer looks at is not renewed", "url", ref.URL, "err", err)
			}
		}
		select {
		case <-o.ctx.Done():
			return
		case <-time.After(standInEvery):
		}
	}
}

func (o *Feeds) writeStandIn(ctx context.Context, url string) error {
	f, ok := o.get(url)
	if !ok || o.Cache.Address(url) == "" || !o.lookers.rests(f.spec()) {
		return nil
	}
	entries, err := o.entriesOf(ctx, f.spec())
	if err != nil || len(entries) == 0 {
		return err
	}
	sum := sha256.Sum256([]byte("feedring document of a feed\x00" + url))
	doc := &render.Feed{
		ID: render.URN([16]byte(sum[:16])), Title: cmp.Or(o.title(url), string(f.spec().Provider)), Entries: entries,
		Updated: slices.MaxFunc(entries, func(a, b feedring.Entry) int { return a.Seen.Compare(b.Seen) }).Seen,
	}
	var body bytes.Buffer
	if err := render.Write(&body, render.Atom, doc); err != nil {
		return err
	}
	o.Cache.Take(url, cache.Fetched{Body: body.Bytes(), ContentType: render.Atom.ContentType(), At: time.Now()})
	o.parts.Subscribers.FeedChanged(url)
	return nil
}

// entriesOf are the newest entries that the group has of a feed, by whomever they
// were published.
func (o *Feeds) entriesOf(ctx context.Context, spec feedring.FeedSpec) (entries []feedring.Entry, err error) {
	var refs []feedring.FeedRef
	for _, p := range o.Store.Publishers(spec.URL) {
		refs = append(refs, feedring.FeedRef{URL: spec.URL, Publisher: p})
	}
	items, _, err := o.Store.Search(ctx, store.Search{Theme: spec.Theme, Refs: refs, Limit: standInEntries})
	if err != nil {
		return nil, err
	}
	for i := range items {
		e, _, err := wire.DecodeEntry(sealed.Seal(&items[i]))
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(entries, func(o feedring.Entry) bool { return o.ID == e.ID })
		switch {
		case e.Retracted:
		case at < 0:
			entries = append(entries, *e)
		case entries[at].Version < e.Version:
			entries[at] = *e
		}
	}
	return entries, nil
}
