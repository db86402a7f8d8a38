package personal

import (
	"crypto/sha256"

	"github.com/feedring/feedring"
)

// identity is what an entry has in common with its versions and with mirrors of
// its feed, and with nothing else. Its id alone would not do: a publisher may
// sign any, that of another feed's entry too.
type identity [16]byte

func identityOf(feedURL string, id feedring.EntryID) identity {
	sum := sha256.Sum256([]byte("feedring personal entry\x00" + feedURL + "\x00" + string(id)))
	return identity(sum[:16])
}
