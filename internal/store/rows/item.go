package rows

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

// Item is one sealed entry with what the store needs to find it.
type Item struct {
	Ref             feedring.FeedRef
	Position        feedring.Position // not zero; unique within Ref
	ID              feedring.EntryID  // shared by the versions of one entry
	Version         uint32
	Theme           feedring.Theme // empty: of a private feed
	Provider        feedring.Provider
	Private         bool      // told only to the peer's own readers
	Published, Seen time.Time // any precision; come back in UTC
	Hash            [32]byte  // of the sealed entry
	// Payload and Signature are the sealed entry as it came, byte for byte.
	Payload, Signature []byte
	Text               match.Text // folded words, for Search

	// Takes is set for a retraction, the last version of an entry: what it takes
	// back, before Position and known by its hash, becomes a tombstone, and no search
	// finds the entry any more. It is not read back: see Retraction.
	Takes      []feedring.Taken
	Retraction bool // Takes was set
	// Tombstone is what is left of a version that was taken back: Position, ID, Seen
	// and Hash are its own, Payload and Signature are those of the retraction,
	// which proves that nothing is withheld. It has no Text.
	Tombstone bool
}
