// Package sealed turns sealed entries into what the store keeps, and back.
package sealed

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
)

// Item is the store's form of a sealed entry. It is found under the name that it is
// shown under; sites are those that name its publisher.
func Item(seal *feedring.Seal, e *feedring.Entry, sites ...string) store.Item {
	named := *e
	if e.Theme != "" { // what is told to nobody has the name that its owner gave it
		named.Provider, _ = feedring.NameOf(e.Feed, e.Provider, sites...)
	}
	it := store.Item{
		Ref: e.Ref(), Position: e.Position, ID: e.ID, Version: e.Version,
		Theme: e.Theme, Provider: named.Provider,
		Published: e.Published, Seen: e.Seen, Hash: wire.EntryHash(seal),
		Payload: seal.Payload, Signature: seal.Signature,
		Retraction: e.Retracted, Takes: e.Takes,
	}
	if !e.Retracted {
		it.Text = match.TextOf(&named)
	}
	return it
}

// Arrived dates an item that another peer published no later than it came: nobody's
// entries stay above others' because their date is ahead.
func Arrived(it store.Item, at time.Time) store.Item {
	if at = at.UTC().Truncate(time.Second); it.Published.After(at) {
		it.Published = at
	}
	return it
}

// Tombstone is the store's form of a version that was retracted: seal is of the
// retraction, which is sent in its place.
func Tombstone(seal *feedring.Seal, e *feedring.Entry, taken feedring.Taken) store.Item {
	it := Item(seal, e)
	it.Position, it.Hash, it.Seen = taken.Position, taken.Hash, taken.Seen
	it.Retraction, it.Takes, it.Tombstone = false, nil, true
	return it
}

// Seal is the seal of a stored entry.
func Seal(it *store.Item) *feedring.Seal {
	return &feedring.Seal{Signer: it.Ref.Publisher, Payload: it.Payload, Signature: it.Signature}
}

// Open decodes a stored entry, dated as Arrived does. The store verified it when it
// came. Of a tombstone there is none.
func Open(it *store.Item) (*feedring.Entry, error) {
	if it.Tombstone {
		return nil, store.ErrNotFound
	}
	e, _, err := wire.DecodeEntry(Seal(it))
	if err == nil && it.Published.Before(e.Published) {
		e.Published = it.Published
	}
	return e, err
}
