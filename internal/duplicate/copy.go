package duplicate

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

// CopyOf is what e is compared by with other copies of its identity: see
// feedring.Supersedes.
func CopyOf(e *feedring.Entry) feedring.Copy {
	link := canonicalLink(e.URL)
	if link == "" {
		link = e.URL
	}
	return feedring.Copy{
		Publisher: digest("publisher", string(e.Publisher)), Version: e.Version, Seen: e.Seen.UnixMilli(),
		Story: digest("story", link, string(match.TextOf(&feedring.Entry{Title: e.Title}))), OfSite: e.OfSite,
	}
}

// Identity is what the versions and copies of one entry have in common, and nothing
// else has: its id alone would not do, since a publisher of a version before may sign any.
type Identity [16]byte

// IdentityOf returns the identity of an entry.
func IdentityOf(feedURL string, id feedring.EntryID) Identity {
	sum := sha256.Sum256([]byte("feedring identity\x00" + feedURL + "\x00" + string(id)))
	return Identity(sum[:16])
}

// digest stands for texts. Nobody finds others for which it is the same: whoever could
// would pass off a copy for one that agrees.
func digest(parts ...string) uint64 {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	var sum [sha256.Size]byte
	return binary.BigEndian.Uint64(h.Sum(sum[:0]))
}
