package store

import (
	"fmt"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/rows"
)

// Limits of one item, in bytes. Together they keep an item's rows within one
// transaction.
const (
	MaxPayload   = feedring.MaxEntry
	MaxText      = 300 << 10
	MaxSignature = 1 << 10
	maxID        = 64
	maxProvider  = 253
	maxURL       = 2048
	maxPublisher = 256
)

// Item is one sealed entry with what the store needs to find it.
type Item = rows.Item

// Head is what the store holds of one feed as one peer publishes it.
type Head = rows.Head

// RowKey is the place of an index row.
type RowKey = rows.Key

// validate reports why an item cannot be stored.
func validate(it *Item) error {
	switch {
	case it.Position.IsZero():
		return fmt.Errorf("entry of %s has no position: %w", it.Ref.URL, ErrInvalid)
	case it.Ref.URL == "" || it.Ref.Publisher == "":
		return fmt.Errorf("entry %s names no feed or no publisher: %w", it.ID, ErrInvalid)
	case it.ID == "":
		return fmt.Errorf("entry %d of %s has no id: %w", it.Position.Sequence, it.Ref.URL, ErrInvalid)
	case it.Retraction != (len(it.Takes) > 0) || it.Retraction && it.Tombstone || len(it.Takes) > feedring.MaxTaken:
		return fmt.Errorf("entry %d of %s takes back %d versions: %w", it.Position.Sequence, it.Ref.URL, len(it.Takes), ErrInvalid)
	}
	for _, t := range it.Takes {
		if t.Position.Compare(it.Position) >= 0 {
			return fmt.Errorf("entry %d of %s takes back a later one: %w", it.Position.Sequence, it.Ref.URL, ErrInvalid)
		}
	}
	for _, part := range []struct {
		name     string
		got, max int
	}{
		{"payload", len(it.Payload), MaxPayload},
		{"text", len(it.Text), MaxText},
		{"signature", len(it.Signature), MaxSignature},
		{"id", len(it.ID), maxID},
		{"theme", len(it.Theme), feedring.MaxTheme},
		{"provider", len(it.Provider), maxProvider},
		{"feed address", len(it.Ref.URL), maxURL},
		{"publisher", len(it.Ref.Publisher), maxPublisher},
	} {
		if part.got > part.max {
			return fmt.Errorf("entry %d: its %s has %d bytes, at most %d are kept: %w",
				it.Position.Sequence, part.name, part.got, part.max, ErrTooLarge)
		}
	}
	return nil
}

// costOf bounds what the rows of it add to a transaction: the log and index
// rows, the version row, the deletion of an older index row, the ref's row, the
// journal row, the row of an old version, and for each the bytes that badger adds; with a
// retraction each tombstone's row.
func costOf(it *Item) cost {
	variable := len(it.Payload) + len(it.Signature) + 2*len(it.Text) + 3*len(it.ID) +
		2*(len(it.Theme)+len(it.Provider)) + len(it.Ref.URL) + len(it.Ref.Publisher)
	tombstone := int64(len(it.Payload) + len(it.Signature) + maxProvider + maxID + 300)
	return cost{bytes: int64(variable) + 800 + int64(len(it.Takes))*tombstone, rows: 7 + int64(len(it.Takes))}
}
