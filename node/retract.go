package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
)

// RetractEntry implements web.Backend.
func (n *Node) RetractEntry(ctx context.Context, id feedring.EntryID) ([]feedring.Retraction, error) {
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
		return nil, fmt.Errorf("entry %s is of none of this peer's feeds: only its own publisher can take an entry back: %w", id, web.ErrUnknown)
	}
	return n.retract(ctx, found)
}

// RetractURL implements web.Backend. No index knows addresses: all entries of
// this peer's feeds are looked at.
func (n *Node) RetractURL(ctx context.Context, url string) ([]feedring.Retraction, error) {
	var found []store.Item
	q := store.Search{Refs: n.ownRefs(), Privacy: store.PublicAndPrivate, Limit: feedring.MaxLimit}
	for {
		page, next, err := n.store.Search(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range page {
			if e, err := n.entry(&page[i]); err == nil && e.URL == url {
				found = append(found, page[i])
			}
		}
		if q.Cursor = next; next == "" {
			break
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no entry of this peer's feeds has the address %s, exactly as its feed tells it: %w", url, web.ErrUnknown)
	}
	return n.retract(ctx, found)
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

// retract takes entries of own feeds back, and returns when that is on disk.
func (n *Node) retract(ctx context.Context, found []store.Item) (told []feedring.Retraction, err error) {
	feeds := make(map[string]feedring.FeedSpec)
	for i := range found {
		f, ok := n.origins.get(found[i].Ref.URL)
		if feeds[found[i].Ref.URL] = f.spec(); !ok {
			return nil, fmt.Errorf("%s is of %s, which this peer does not publish any more: add that feed again, so that others hear of it, then retract",
				found[i].ID, found[i].Ref.URL)
		}
	}
	for i := range found {
		it, spec := &found[i], feeds[found[i].Ref.URL]
		err := n.publisher.publish(ctx, spec, []feedring.Entry{{ID: it.ID, Retracted: true}})
		switch {
		case errors.Is(err, errNotPlaced):
			return told, fmt.Errorf("%s was not taken back: its group took too long: try again: %w", it.ID, web.ErrLate)
		case err != nil:
			return told, notKept(fmt.Sprintf("%s was not taken back", it.ID), err)
		}
		e := feedring.Entry{ID: it.ID, Feed: spec.URL, Provider: spec.Provider, Theme: spec.Theme, Publisher: n.ID()}
		told = append(told, e.Retraction())
	}
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
