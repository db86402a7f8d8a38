package feedring

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// MaxHints is how many entries Hints name at most.
const MaxHints = 64

// Hints names the newest entries that a peer holds of what was asked for, so that a client
// notices what a provider leaves out. Nobody signs it: the entries themselves are signed.
type Hints struct {
	// Provider and Since are what was asked for, and Held is from when on all providers have
	// what was seen. They stay with the peer that makes the grant.
	Provider    string
	Since, Held time.Time

	Copies []Hint // newest first; nil: nobody looked yet
}

// Hint is one entry that somebody holds.
type Hint struct {
	Copy      uint64 // CopyKey
	Published time.Time
}

// CopyKey stands for one publisher's copy of an entry. Nobody finds a second copy with the
// key of a given one.
func CopyKey(ref FeedRef, id EntryID) uint64 {
	b := make([]byte, 0, 256)
	for _, part := range [...]string{"copy", ref.URL, string(ref.Publisher), string(id)} {
		b = append(append(b, part...), 0)
	}
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:])
}
