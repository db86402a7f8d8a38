package catalogue

import (
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// Index is what follows from the rows of a catalogue at one instant. It is
// made anew after a change.
type Index struct {
	Others   []feedring.PeerID // all but self that have not left, in order of rank
	Present  []feedring.PeerID // those of them that are not away
	Feeds    []Publication     // in order of FeedRef, those of self included
	Vouched  map[feedring.FeedRef]string
	matching map[string][]Publication // by asked provider
}

// Publication is a feed of a row.
type Publication struct {
	Ref      feedring.FeedRef
	Provider feedring.Provider
	Away     bool
}

// NewIndex makes the index of rows, which it sorts by rank; who has left is
// passed over. away says who is not there.
func NewIndex(self feedring.PeerID, rows []*Row, away func(feedring.PeerID) bool, now time.Time) *Index {
	x := &Index{matching: map[string][]Publication{}}
	rows = slices.DeleteFunc(rows, func(r *Row) bool { return r.Left })
	slices.SortFunc(rows, CompareRank)
	for _, r := range rows {
		away := away(r.Peer)
		if r.Peer != self {
			x.Others = append(x.Others, r.Peer)
			if !away {
				x.Present = append(x.Present, r.Peer)
			}
		}
		for _, f := range r.Feeds {
			x.Feeds = append(x.Feeds, Publication{feedring.FeedRef{URL: f.URL, Publisher: r.Peer}, f.Provider, away})
		}
	}
	slices.SortFunc(x.Feeds, func(a, b Publication) int { return a.Ref.Compare(b.Ref) })
	x.Vouched = vouchedFeeds(rows, x.Feeds, now)
	return x
}

// maxMatching bounds the answers that an index remembers.
const maxMatching = 1_000

// Matches lists the feeds whose provider is the asked one, feeds of peers that
// are away included.
func (x *Index) Matches(provider string) []Publication {
	if provider == "" {
		return x.Feeds
	}
	if found, ok := x.matching[provider]; ok {
		return found
	}
	var found []Publication
	for _, f := range x.Feeds {
		if f.Provider.Matches(provider) {
			found = append(found, f)
		}
	}
	if len(x.matching) >= maxMatching {
		clear(x.matching)
	}
	x.matching[strings.Clone(provider)] = found
	return found
}
