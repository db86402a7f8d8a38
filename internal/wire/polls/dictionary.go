package polls

import (
	"crypto/sha256"
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire/peerid"
)

const (
	dictionaryNameBytes = 8
	deflateWindow       = 32 << 10 // what comes before it in a dictionary is out of reach
)

// Dictionary is what both ends of a poll know before it: the feed's name, and the
// entry after which is asked, if they hold it. An entry repeats much of the one
// before it, and carries its hash.
type Dictionary struct{ whole, bare []byte }

// NewDictionary is made of the payload of the entry after which is asked, and
// of its hash as the next entry has it; without payload the dictionary is bare.
func NewDictionary(ref feedring.FeedRef, payload []byte, hash [32]byte) Dictionary {
	bare := slices.Concat([]byte(ref.URL), peerid.Bytes(ref.Publisher))
	if len(payload) == 0 {
		return Dictionary{whole: bare, bare: bare}
	}
	whole := slices.Concat(payload, hash[:], bare)
	return Dictionary{whole: whole[max(0, len(whole)-deflateWindow):], bare: bare}
}

// Bare is what is known to who does not hold the entry.
func (d Dictionary) Bare() Dictionary { return Dictionary{whole: d.bare, bare: d.bare} }

// Name is what a poll says of a dictionary: who makes the same name has the same
// bytes, as far as it matters for what is signed anyhow.
func (d Dictionary) Name() string {
	sum := sha256.Sum256(d.whole)
	return string(sum[:dictionaryNameBytes])
}
