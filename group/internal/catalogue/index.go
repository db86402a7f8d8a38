package catalogue

import (
	"cmp"
	"slices"
	"strings"

	"github.com/feedring/feedring"
)

// Index is what follows from the rows of a catalogue at one instant. It is
// made anew after a change.
type Index struct {
	Rows     []*Row            // of those that have not left, in order of rank
	Left     []*Row            // of the others, by peer
	Others   []feedring.PeerID // all but self of them
	Present  []feedring.PeerID // those of Others that are not away
	Feeds    []Publication     // in order of FeedRef, those of self included
	asked    []Publication     // Feeds, and those of which only copies are left
	Ahead    int               // how many of Present are before self in rank
	Away     int               // of all rows, those of peers that left included
	self     feedring.PeerID
	circle   Circle                   // see PresentCircle; nil: to be made
	matching map[string][]Publication // by asked provider
}

// Publication is a feed of a row.
type Publication struct {
	Ref      feedring.FeedRef
	Provider feedring.Provider // see feedring.NameOf
	Away     bool
	Carried  uint64 // see feedring.Feed
}

// NewIndex makes the index of rows, which it sorts by rank; who has left is
// passed over. away says who is not there.
func NewIndex(self feedring.PeerID, rows []*Row, away func(feedring.PeerID) bool) *Index {
	x := &Index{self: self}
	var own *Row
	for _, r := range rows {
		if r.Peer == self {
			own = r
		}
		if away(r.Peer) {
			x.Away++
		}
	}
	rows = slices.DeleteFunc(rows, func(r *Row) bool {
		if r.Left {
			x.Left = append(x.Left, r)
		}
		return r.Left
	})
	slices.SortFunc(x.Left, func(a, b *Row) int { return cmp.Compare(a.Peer, b.Peer) })
	slices.SortFunc(rows, CompareRank)
	x.Rows = rows
	x.Others, x.Present = make([]feedring.PeerID, 0, len(rows)), make([]feedring.PeerID, 0, len(rows))
	feeds := 0
	for _, r := range rows {
		feeds += len(r.Feeds)
	}
	x.Feeds = make([]Publication, 0, feeds)
	names := namesIn(rows)
	for _, r := range rows {
		away := away(r.Peer)
		if r.Peer != self && !away && own != nil && CompareRank(r, own) < 0 {
			x.Ahead++
		}
		if r.Peer != self {
			x.Others = append(x.Others, r.Peer)
			if !away {
				x.Present = append(x.Present, r.Peer)
			}
		}
		for _, f := range r.Feeds {
			ref := feedring.FeedRef{URL: f.URL, Publisher: r.Peer}
			x.Feeds = append(x.Feeds, Publication{ref, names.of(ref, f.Provider), away, f.Carried})
		}
	}
	slices.SortFunc(x.Feeds, compareFeeds)
	x.asked = x.Feeds
	x.addGone(names, away)
	return x
}

// names is which sites name which publishers, by a row that is not the publisher's: for
// lookups that is enough, and readers look again.
type names map[feedring.PeerID][]string

func namesIn(rows []*Row) names {
	all := names{}
	for _, r := range rows {
		for i := range r.Vouches {
			if v := &r.Vouches[i]; v.Publisher != r.Peer && !slices.Contains(all[v.Publisher], v.Site) && len(all[v.Publisher]) < maxNames {
				all[v.Publisher] = append(all[v.Publisher], v.Site)
			}
		}
	}
	return all
}

// maxNames bounds the sites that count for one publisher.
const maxNames = 16

// of is the name under which a feed is looked up.
func (n names) of(ref feedring.FeedRef, given feedring.Provider) feedring.Provider {
	name, _ := feedring.NameOf(ref.URL, given, n[ref.Publisher]...)
	return name
}

func compareFeeds(a, b Publication) int { return a.Ref.Compare(b.Ref) }

// addGone adds the feeds that no row lists, but of which peers that are there
// keep copies.
func (x *Index) addGone(names names, away func(feedring.PeerID) bool) {
	var gone []Publication
	for _, r := range x.Rows {
		if len(r.Gone) == 0 || away(r.Peer) {
			continue
		}
		for _, g := range r.Gone {
			if _, listed := x.Find(g.Ref); !listed {
				gone = append(gone, Publication{Ref: g.Ref, Provider: names.of(g.Ref, g.Provider), Away: true})
			}
		}
	}
	if len(gone) == 0 {
		return
	}
	gone = append(gone, x.Feeds...)
	slices.SortStableFunc(gone, compareFeeds)
	x.asked = slices.CompactFunc(gone, func(a, b Publication) bool { return a.Ref == b.Ref })
}

// Find returns the place of a feed in Feeds, and whether it is there.
func (x *Index) Find(ref feedring.FeedRef) (int, bool) {
	return slices.BinarySearchFunc(x.Feeds, ref, func(f Publication, ref feedring.FeedRef) int { return f.Ref.Compare(ref) })
}

// Offers lists who offers a feed, those that are away included.
func (x *Index) Offers(url string) []Publication {
	i, _ := x.Find(feedring.FeedRef{URL: url})
	n := i
	for n < len(x.Feeds) && x.Feeds[n].Ref.URL == url {
		n++
	}
	return x.Feeds[i:n]
}

// SameIndex reports whether an index of b, and what the rows vouch for, is the
// same as of a, another version of the row: most versions differ in marks only.
func SameIndex(a, b *Row) bool {
	return SameLists(a, b) && SameWord(a, b) && slices.EqualFunc(a.Vouches, b.Vouches, func(v, w Vouch) bool { return v.At.Equal(w.At) })
}

// SameLists reports whether an index of b is the same as of a, what the rows vouch
// for aside.
func SameLists(a, b *Row) bool {
	return a.Peer == b.Peer && a.Left == b.Left && a.Volunteer == b.Volunteer && a.Admitted.Equal(b.Admitted) && slices.Equal(a.Feeds, b.Feeds) && slices.Equal(a.Gone, b.Gone)
}

// With returns the index in which r stands for another version of its row, of the
// same lists; nil where there is none.
func (x *Index) With(r *Row) *Index {
	if x == nil {
		return nil
	}
	with := *x
	with.Rows = slices.Clone(x.Rows)
	for i := range with.Rows {
		if with.Rows[i].Peer == r.Peer {
			with.Rows[i] = r
		}
	}
	return &with
}

// maxMatching bounds the answers that an index remembers.
const maxMatching = 1_000

// Matches lists the feeds whose provider is the asked one, feeds of peers that
// are away included, and those of which only copies are left.
func (x *Index) Matches(provider string) []Publication {
	if provider == "" {
		return x.asked
	}
	if found, ok := x.matching[provider]; ok {
		return found
	}
	var found []Publication
	for _, f := range x.asked {
		if f.Provider.Matches(provider) {
			found = append(found, f)
		}
	}
	if len(x.matching) >= maxMatching {
		clear(x.matching)
	}
	if x.matching == nil {
		x.matching = map[string][]Publication{}
	}
	x.matching[strings.Clone(provider)] = found
	return found
}
