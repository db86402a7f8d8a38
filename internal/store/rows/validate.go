package rows

import (
	"errors"
	"fmt"

	"github.com/feedring/feedring"
)

// Limits of one item, in bytes. Together they keep an item's rows within one
// transaction.
const (
	MaxPayload   = feedring.MaxEntry
	MaxText      = 300 << 10
	MaxSignature = 1 << 10
	MaxID        = 64
	MaxProvider  = 253
	MaxURL       = 2048
	MaxPublisher = 256
)

// Why an item is not stored.
var (
	ErrTooLarge = errors.New("too large to store")
	ErrInvalid  = errors.New("cannot be stored")
)

// Validate reports why an item cannot be stored.
func Validate(it *Item) error {
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
		{"id", len(it.ID), MaxID},
		{"theme", len(it.Theme), feedring.MaxTheme},
		{"provider", len(it.Provider), MaxProvider},
		{"feed address", len(it.Ref.URL), MaxURL},
		{"publisher", len(it.Ref.Publisher), MaxPublisher},
	} {
		if part.got > part.max {
			return fmt.Errorf("entry %d: its %s has %d bytes, at most %d are kept: %w",
				it.Position.Sequence, part.name, part.got, part.max, ErrTooLarge)
		}
	}
	return nil
}
