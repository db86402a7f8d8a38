package node

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
)

// RetractEntry implements web.Backend.
func (n *Node) RetractEntry(ctx context.Context, id feedring.EntryID) ([]web.Retracted, error) {
	var found []store.Item
	for _, ref := range n.ownRefs() {
		it, ok, err := n.store.Latest(ref, id)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, it)
		}
	}
	if len(found) == 0 {
		return nil, &web.UnknownEntryError{ID: id, PublishedBy: n.others(id, "", n.ID())}
	}
	return n.retract(ctx, found)
}

// RetractURL implements web.Backend.
func (n *Node) RetractURL(ctx context.Context, url string) ([]web.Retracted, error) {
	found, err := n.withAddress(ctx, n.ownRefs(), url)
	switch {
	case err != nil:
		return nil, err
	case len(found) > 0:
		return n.retract(ctx, found)
	}
	all, err := n.withAddress(ctx, nil, url)
	if err != nil {
		return nil, err
	}
	var others []feedring.PeerID
	for i := range all {
		if by := all[i].Ref.Publisher; by != n.ID() && !slices.Contains(others, by) {
			others = append(others, by)
		}
	}
	return nil, &web.UnknownEntryError{URL: url, PublishedBy: others}
}

// withAddress finds the entries of feeds, nil: of all, that have an address. No
// index knows addresses: all entries are looked at.
func (n *Node) withAddress(ctx context.Context, refs []feedring.FeedRef, url string) (found []store.Item, err error) {
	q := store.Search{Refs: refs, Privacy: store.PublicAndPrivate, Limit: feedring.MaxLimit}
	for {
		page, next, err := n.store.Search(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range page {
			if e, err := n.readers.Open(&page[i]); err == nil && e.URL == url {
				found = append(found, page[i])
			}
		}
		if q.Cursor = next; next == "" {
			return found, nil
		}
	}
}

// ownRefs is the logs that this peer writes. It is not nil.
func (n *Node) ownRefs() []feedring.FeedRef {
	refs := []feedring.FeedRef{}
	for _, h := range n.store.Heads() {
		if h.Ref.Publisher == n.ID() {
			refs = append(refs, h.Ref)
		}
	}
	return refs
}

// others lists the peers but one that published an entry, as far as this one
// knows: all, or as an entry of one feed.
func (n *Node) others(id feedring.EntryID, url string, but feedring.PeerID) (others []feedring.PeerID) {
	for _, it := range n.versionsByOthers(id, url, but) {
		if !slices.Contains(others, it.Ref.Publisher) {
			others = append(others, it.Ref.Publisher)
		}
	}
	return others
}

// versionsByOthers is others with what each of them published.
func (n *Node) versionsByOthers(id feedring.EntryID, url string, but feedring.PeerID) (found []store.Item) {
	heads := n.store.HeadsWhere(func(h *store.Head) bool {
		return !h.Private && h.Ref.Publisher != but && (url == "" || h.Ref.URL == url)
	})
	for _, h := range heads {
		it, ok, err := n.store.Latest(h.Ref, id)
		if err == nil && ok && !it.Retraction && !it.Private {
			found = append(found, it)
		}
	}
	return found
}

// retract takes entries of own feeds back, and returns when that is on disk and
// the others of the group have it, or did not say so in time.
func (n *Node) retract(ctx context.Context, found []store.Item) (told []web.Retracted, err error) {
	feeds := make(map[string]feedring.FeedSpec)
	for i := range found {
		f, ok := n.origins.get(found[i].Ref.URL)
		if feeds[found[i].Ref.URL] = f.spec(); !ok {
			return nil, &web.RetractError{ID: found[i].ID, Feed: found[i].Ref.URL}
		}
	}
	for i := range found {
		it, spec := &found[i], feeds[found[i].Ref.URL]
		err := n.publisher.publish(ctx, spec, []feedring.Entry{{ID: it.ID, Retracted: true}})
		switch {
		case errors.Is(err, errNotPlaced):
			return told, &web.RetractError{ID: it.ID}
		case err != nil:
			return told, notKept(fmt.Sprintf("%s was not taken back", it.ID), err)
		}
		e := feedring.Entry{ID: it.ID, Feed: spec.URL, Provider: spec.Provider, Theme: spec.Theme, Publisher: n.ID()}
		told = append(told, web.Retracted{Retraction: e.Retraction(), AlsoBy: n.others(it.ID, spec.URL, n.ID())})
	}
	n.confirm(ctx, told)
	return told, nil
}

// takeBack does what a retraction says that another peer's log tells here too
// late to have a place.
func (n *Node) takeBack(ctx context.Context, it store.Item) error {
	if err := n.store.TakeBack(ctx, it); err != nil {
		return fmt.Errorf("taking %s back: %w", it.ID, err)
	}
	n.personal.TakenBack(&it)
	return nil
}
