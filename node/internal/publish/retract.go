package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/sealed"
	"github.com/feedring/feedring/node/internal/storage"
)

// Feeds are this peer's own feeds.
type Feeds interface {
	// Spec is what was asked for of a feed; false: it is not one of this peer's.
	Spec(url string) (feedring.FeedSpec, bool)
}

// Views shows what the machine knows.
type Views interface {
	View() *peer.View
}

// Joins are the places that this peer joins the network through.
type Joins interface {
	All() []string
}

// Retractor retracts what this peer published.
type Retractor struct {
	Publisher *Publisher
	Feeds     Feeds
	Views     Views
	Joins     Joins
	Host      *host.Host
	Verifier  *wire.Verifier
}

// Entry retracts an entry in each own feed that has it.
func (r *Retractor) Entry(ctx context.Context, id feedring.EntryID) ([]web.Retracted, error) {
	var found []store.Item
	for _, ref := range r.ownRefs() {
		it, ok, err := r.Publisher.Store.Latest(ref, id)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, it)
		}
	}
	if len(found) == 0 {
		return nil, &web.UnknownEntryError{ID: id, PublishedBy: r.others(id, "", r.Publisher.Self)}
	}
	return r.retract(ctx, found)
}

// URL retracts the entries of own feeds that have an address.
func (r *Retractor) URL(ctx context.Context, url string) ([]web.Retracted, error) {
	found, err := r.withAddress(ctx, r.ownRefs(), url)
	switch {
	case err != nil:
		return nil, err
	case len(found) > 0:
		return r.retract(ctx, found)
	}
	all, err := r.withAddress(ctx, nil, url)
	if err != nil {
		return nil, err
	}
	var others []feedring.PeerID
	for i := range all {
		if by := all[i].Ref.Publisher; by != r.Publisher.Self && !slices.Contains(others, by) {
			others = append(others, by)
		}
	}
	return nil, &web.UnknownEntryError{URL: url, PublishedBy: others}
}

// withAddress finds the entries of feeds, nil: of all, that have an address. No
// index knows addresses: all entries are read.
func (r *Retractor) withAddress(ctx context.Context, refs []feedring.FeedRef, url string) (found []store.Item, err error) {
	q := store.Search{Refs: refs, Privacy: store.PublicAndPrivate, Limit: feedring.MaxLimit}
	for {
		page, next, err := r.Publisher.Store.Search(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range page {
			if e, err := sealed.Open(&page[i]); err == nil && e.URL == url {
				found = append(found, page[i])
			}
		}
		if q.Cursor = next; next == "" {
			return found, nil
		}
	}
}

// ownRefs is the logs that this peer writes. It is not nil.
func (r *Retractor) ownRefs() []feedring.FeedRef {
	refs := []feedring.FeedRef{}
	for _, h := range r.Publisher.Store.Heads() {
		if h.Ref.Publisher == r.Publisher.Self {
			refs = append(refs, h.Ref)
		}
	}
	return refs
}

// others lists the peers but one that published an entry, as far as this one
// knows: all, or as an entry of one feed.
func (r *Retractor) others(id feedring.EntryID, url string, but feedring.PeerID) (others []feedring.PeerID) {
	for _, it := range r.Publisher.Store.LatestByOthers(id, url, but) {
		if !slices.Contains(others, it.Ref.Publisher) {
			others = append(others, it.Ref.Publisher)
		}
	}
	return others
}

// retract takes entries of own feeds back, and returns when that is on disk and
// the others of the group have it, or did not say so in time.
func (r *Retractor) retract(ctx context.Context, found []store.Item) (told []web.Retracted, err error) {
	feeds := make(map[string]feedring.FeedSpec)
	for i := range found {
		spec, ok := r.Feeds.Spec(found[i].Ref.URL)
		if feeds[found[i].Ref.URL] = spec; !ok {
			return nil, &web.RetractError{ID: found[i].ID, Feed: found[i].Ref.URL}
		}
	}
	for i := range found {
		it, spec := &found[i], feeds[found[i].Ref.URL]
		err := r.Publisher.Publish(ctx, spec, []feedring.Entry{{ID: it.ID, Retracted: true}})
		switch {
		case errors.Is(err, ErrNotPlaced):
			return told, &web.RetractError{ID: it.ID}
		case err != nil:
			return told, storage.NotKept(fmt.Sprintf("%s was not taken back", it.ID), err)
		}
		e := feedring.Entry{ID: it.ID, Feed: spec.URL, Provider: spec.Provider, Theme: spec.Theme, Publisher: r.Publisher.Self}
		told = append(told, web.Retracted{Retraction: e.Retraction(), AlsoBy: r.others(it.ID, spec.URL, r.Publisher.Self)})
	}
	r.confirm(ctx, told)
	return told, nil
}
