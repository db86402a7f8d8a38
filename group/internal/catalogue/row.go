// Package catalogue is the rows of a group: what a peer says of itself, how
// two versions of it merge, and what follows from all rows together (ranks,
// who publishes what, who checks whose site, the mesh). It keeps no rows and
// knows nobody's role: that is the membership's.
package catalogue

import (
	"cmp"
	"slices"
	"strings"
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
	Backfilling []feedring.FeedRef // … but for these; one without a URL is all feeds of its publisher
	Vouches     []Vouch            // sites that this peer looked at
	Keep        time.Duration      // how long copies of others' entries are kept; 0: while they are fresh
	Gone        []Gone             // copies of feeds whose publisher has left or is forgotten, in order
	Left        bool               // a tombstone: the peer left in good order
	Capacity    int                // personal feeds that the peer has room for in its fleet; 0: it is in none
	Volunteer   bool               // the peer carries feeds of the group that nobody who is there offers
	Seal        *feedring.Seal     // by Peer; nil on one's own
}

// Member is what a peer knows of a member of its group; the zero Member: it is none.
type Member struct {
	Row   *Row
	Heard time.Time // the last sign of life
	Away  bool
}

// Gone is a feed that no row lists any more.
type Gone struct {
	Ref      feedring.FeedRef
	Provider feedring.Provider
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
	return hash.Begin.Text(string(v.Peer)).Number(v.Incarnation).Number(v.Version).End()
}

// Compare orders two versions of one peer's row: by incarnation, version, and,
// should a peer ever have used one version twice, tombstone and hash. Keeping
// the greater makes the merge commutative, associative, idempotent.
func Compare(a, b *Row) int {
	if a == b {
		return 0
	}
	if c := VersionOf(a).Compare(VersionOf(b)); c != 0 {
		return c
	}
	if c := FalseFirst(a.Left, b.Left); c != 0 {
		return c
	}
	return cmp.Compare(a.hash(), b.hash())
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
	h := hash.Begin.Text(string(r.Group[:])).Text(string(r.Peer)).Number(r.Incarnation).Number(r.Version)
	h = texts(moment(moment(h, r.Admitted), r.From), r.Addrs)
	for _, f := range r.Feeds {
		if h = h.Text(f.URL).Text(f.Title).Text(string(f.Provider)).Number(f.Epoch); f.Carried > 0 {
			h = h.Text("carried").Number(f.Carried)
		}
	}
	for _, b := range r.Backfilling {
		h = h.Text(b.URL).Text(string(b.Publisher))
	}
	for _, v := range r.Vouches {
		h = texts(moment(h.Text(v.Site).Text(string(v.Publisher)), v.At), v.Feeds)
	}
	if r.Left {
		h = h.Text("left")
	}
	if r.Keep > 0 {
		h = h.Text("keep").Number(uint64(r.Keep))
	}
	if r.Capacity > 0 {
		h = h.Text("capacity").Number(uint64(r.Capacity))
	}
	if r.Volunteer {
		h = h.Text("volunteer")
	}
	for _, g := range r.Gone {
		h = h.Text("gone").Text(g.Ref.URL).Text(string(g.Ref.Publisher)).Text(string(g.Provider))
	}
	return h.End()
}

func moment(h hash.Sum, t time.Time) hash.Sum {
	if t.IsZero() {
		return h.Text("")
	}
	return h.Number(uint64(t.UnixNano()))
}

func texts(h hash.Sum, all []string) hash.Sum {
	for _, s := range all {
		h = h.Text(s)
	}
	return h
}

// AllOf is the exception of everything that a peer publishes.
func AllOf(publisher feedring.PeerID) feedring.FeedRef { return feedring.FeedRef{Publisher: publisher} }

// Lacks reports whether an exception of r is one that matters.
func (r *Row) Lacks(matters func(feedring.FeedRef) bool) bool {
	return slices.ContainsFunc(r.Backfilling, matters)
}

// Lists reports whether r publishes the feed at url.
func (r *Row) Lists(url string) bool {
	return !r.Left && slices.ContainsFunc(r.Feeds, func(f feedring.Feed) bool { return f.URL == url })
}

// NamedBySite reports whether r says that the site of its feed at url names the peer.
func (r *Row) NamedBySite(url string) bool {
	return slices.ContainsFunc(r.Vouches, func(v Vouch) bool { return v.About(feedring.FeedRef{URL: url, Publisher: r.Peer}) })
}

// About reports whether v vouches for ref.
func (v *Vouch) About(ref feedring.FeedRef) bool {
	return v.Publisher == ref.Publisher && feedring.OfSite(ref.URL, v.Site) && (len(v.Feeds) == 0 || slices.Contains(v.Feeds, ref.URL))
}

// SameWord reports whether two rows of a publisher say the same of its sites.
func SameWord(a, b *Row) bool {
	return slices.EqualFunc(a.Vouches, b.Vouches, func(v, w Vouch) bool {
		return v.Site == w.Site && v.Publisher == w.Publisher && slices.Equal(v.Feeds, w.Feeds)
	})
}

// SharesHost reports whether two lists of multiaddresses name one host.
func SharesHost(a, b []string) bool {
	for _, x := range a {
		for _, y := range b {
			if machineOf(x) != "" && machineOf(x) == machineOf(y) {
				return true
			}
		}
	}
	return false
}

// machineOf returns the first part of a multiaddress: "/ip4/192.0.2.1".
func machineOf(addr string) string {
	parts := strings.SplitN(addr, "/", 4)
	if len(parts) < 3 {
		return ""
	}
	return parts[1] + "/" + parts[2]
}
