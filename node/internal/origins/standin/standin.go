// Package standin keeps the documents of feeds that rest: pollers of this peer are
// served what the group has, while another peer fetches from the origin.
package standin

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"log/slog"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/internal/readerfeeds/render"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/readers/delivery"
	"github.com/feedring/feedring/node/internal/sealed"
)

const (
	standInEntries = 50          // of a document
	standInEvery   = time.Second // at most, all documents together
)

// Feeds are this peer's own feeds.
type Feeds interface {
	// FetchedElsewhere is a feed that another peer fetches, and its title; false: it is not
	// one of this peer's, or does not rest.
	FetchedElsewhere(url string) (spec feedring.FeedSpec, title string, rests bool)
}

// Subscribers are told of feeds over HTTP.
type Subscribers interface {
	FeedChanged(url string)
}

// Config is what a Writer works with.
type Config struct {
	Self        feedring.PeerID
	Feeds       Feeds
	Store       *store.Store
	Cache       *cache.Cache
	Entries     *delivery.Subscription // to feeds that rest here, and to entries that others publish
	Subscribers Subscribers
	Log         *slog.Logger
}

// Writer renews the documents of feeds that rest.
type Writer struct{ cfg Config }

// New returns a Writer.
func New(cfg Config) *Writer { return &Writer{cfg} }

// Run renews documents until ctx ends.
func (w *Writer) Run(ctx context.Context) {
	defer w.cfg.Entries.Close()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.cfg.Entries.Ready():
		}
		for _, ref := range w.cfg.Entries.Take() {
			if ref.Publisher == w.cfg.Self {
				continue
			}
			if err := w.write(ctx, ref.URL); err != nil && ctx.Err() == nil {
				w.cfg.Log.Warn("the document of a feed that another peer fetches is not renewed", "url", ref.URL, "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(standInEvery):
		}
	}
}

// write writes the document of a feed from its newest entries.
func (w *Writer) write(ctx context.Context, url string) error {
	spec, title, rests := w.cfg.Feeds.FetchedElsewhere(url)
	if !rests || w.cfg.Cache.Address(url) == "" {
		return nil
	}
	entries, changed, err := w.entriesOf(ctx, spec)
	if err != nil {
		return err
	}
	if changed.IsZero() { // the group has nothing of it
		if w.cfg.Cache.Has(url) {
			return nil // what its origin gave, or the group had before
		}
		changed = time.Now()
	}
	sum := sha256.Sum256([]byte("feedring document of a feed\x00" + url))
	doc := &render.Feed{
		ID: render.URN([16]byte(sum[:16])), Title: cmp.Or(title, string(spec.Provider)), Entries: entries, Updated: changed,
	}
	var body bytes.Buffer
	if err := render.Write(&body, render.Atom, doc); err != nil {
		return err
	}
	w.cfg.Cache.Take(url, cache.Fetched{Body: body.Bytes(), ContentType: render.Atom.ContentType(), At: time.Now()})
	w.cfg.Subscribers.FeedChanged(url)
	return nil
}

// entriesOf are the newest entries that the group has of a feed, by whomever they
// were published, and when the newest of them or of its retractions was seen; zero:
// there is none of either.
func (w *Writer) entriesOf(ctx context.Context, spec feedring.FeedSpec) (entries []feedring.Entry, changed time.Time, err error) {
	refs := []feedring.FeedRef{} // nil would be every feed of the theme
	for _, p := range w.cfg.Store.Publishers(spec.URL) {
		refs = append(refs, feedring.FeedRef{URL: spec.URL, Publisher: p})
	}
	items, _, err := w.cfg.Store.Search(ctx, store.Search{Theme: spec.Theme, Refs: refs, Limit: standInEntries})
	if err != nil {
		return nil, changed, err
	}
	for i := range items {
		e, _, err := wire.DecodeEntry(sealed.Seal(&items[i]))
		if err != nil {
			return nil, changed, err
		}
		if e.Seen.After(changed) {
			changed = e.Seen
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
	return entries, changed, nil
}
