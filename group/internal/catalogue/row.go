// Package catalogue is the rows of a group: what a peer says of itself, how
// two versions of it merge, and what follows from all rows together (ranks,
// who publishes what, who looks at whose site, the mesh). It keeps no rows and
// knows nobody's role: that is the membership's.
package catalogue

import (
	"cmp"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/hash"
)

// Row is what one peer says of itself in the group's catalogue. Only its owner
// makes one; (Incarnation, Version) orders them.
type Row struct {
	Group       feedring.GroupID
	Peer        feedring.PeerID
	Incarnation uint64 // one more at each start of the peer
	Version     uint64
	Admitted    time.Time // told by the manager at admission: ranks peers
	Addrs       []string
	Feeds       []feedring.Feed
	From        time.Time          // every entry of the group with a later Seen is here …
	Backfilling []feedring.FeedRef // … but for these
	Vouches     []Vouch            // sites that this peer looked at
	Left        bool               // a tombstone: the peer left in good order
	Seal        *feedring.Seal     // by Peer; nil on one's own
}

// Vouch says that the owner of the row saw Site name Publisher as its peer.
type Vouch struct {
	Site      string
	Publisher feedring.PeerID
	Feeds     []string // addresses that the site names; empty: all of the site
	At        time.Time
}

// Version names one version of a row.
type Version struct {
	Peer                 feedring.PeerID
	Incarnation, Version uint64
}

// VersionOf returns which version r is.
func VersionOf(r *Row) Version { return Version{r.Peer, r.Incarnation, r.Version} }

// Compare orders the versions of one peer's row.
func (v Version) Compare(o Version) int {
	return cmp.Or(cmp.Compare(v.Incarnation, o.Incarnation), cmp.Compare(v.Version, o.Version))
}

// Hash is a version's part of the hash of a catalogue.
func (v Version) Hash() uint64 {
	return hash.Of(string(v.Peer), hash.Number(v.Incarnation), hash.Number(v.Version))
}

// Compare orders two versions of one peer's row: by incarnation, version, and,
// should a peer ever have used one version twice, tombstone and hash. Keeping
// the greater makes the merge commutative, associative, idempotent.
func Compare(a, b *Row) int {
	return cmp.Or(
		cmp.Compare(a.Incarnation, b.Incarnation),
		cmp.Compare(a.Version, b.Version),
		FalseFirst(a.Left, b.Left),
		cmp.Compare(a.hash(), b.hash()),
	)
}

// CompareRank orders rows by time of admission, then by peer; who is not yet
// admitted comes last.
func CompareRank(a, b *Row) int {
	return cmp.Or(
		FalseFirst(a.Admitted.IsZero(), b.Admitted.IsZero()),
		a.Admitted.Compare(b.Admitted),
		cmp.Compare(a.Peer, b.Peer),
	)
}

// FalseFirst orders truths.
func FalseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

// hash is of the row's content, its seal aside.
func (r *Row) hash() uint64 {
	parts := []string{string(r.Group[:]), string(r.Peer), hash.Number(r.Incarnation), hash.Number(r.Version), moment(r.Admitted), moment(r.From)}
	parts = append(parts, r.Addrs...)
	for _, f := range r.Feeds {
		parts = append(parts, f.URL, f.Title, string(f.Provider), hash.Number(f.Epoch))
	}
	for _, b := range r.Backfilling {
		parts = append(parts, b.URL, string(b.Publisher))
	}
	for _, v := range r.Vouches {
		parts = append(parts, v.Site, string(v.Publisher), moment(v.At))
		parts = append(parts, v.Feeds...)
	}
	if r.Left {
		parts = append(parts, "left")
	}
	return hash.Of(parts...)
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return hash.Number(uint64(t.UnixNano()))
}

// Lists reports whether r publishes the feed at url.
func (r *Row) Lists(url string) bool {
	return !r.Left && slices.ContainsFunc(r.Feeds, func(f feedring.Feed) bool { return f.URL == url })
}

// SameWord reports whether two rows of a publisher say the same of its sites.
func SameWord(a, b *Row) bool {
	return slices.EqualFunc(a.Vouches, b.Vouches, func(v, w Vouch) bool {
		return v.Site == w.Site && v.Publisher == w.Publisher && slices.Equal(v.Feeds, w.Feeds)
	})
}
