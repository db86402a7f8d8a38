// Package sealed turns sealed entries into what the store keeps, and back.
package sealed

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
)

// Item is the store's form of a sealed entry.
func Item(seal *feedring.Seal, e *feedring.Entry) store.Item {
	it := store.Item{
		Ref: e.Ref(), Position: e.Position, ID: e.ID, Version: e.Version,
		Theme: e.Theme, Provider: e.Provider,
		Published: e.Published, Seen: e.Seen, Hash: wire.EntryHash(seal),
		Payload: seal.Payload, Signature: seal.Signature,
		Retraction: e.Retracted, Takes: e.Takes,
	}
	if !e.Retracted {
		it.Text = match.TextOf(e)
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

// Open decodes a stored entry. The store verified it when it came. Of a tombstone
// there is none.
func Open(it *store.Item) (*feedring.Entry, error) {
	if it.Tombstone {
		return nil, store.ErrNotFound
	}
	e, _, err := wire.DecodeEntry(Seal(it))
	return e, err
}
