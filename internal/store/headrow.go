package store

import (
	"time"
	"unique"

	"github.com/feedring/feedring"
)

// headRow is a refState as it is kept: 112 bytes and the address. There may be a
// million.
type headRow struct {
	url         string
	whose       unique.Handle[whose]
	first, last feedring.Position
	seconds     int64 // of seen
	hash        [32]byte
	nanos       uint32 // of seen
	count       uint32
	id          refID
}

// whose is what very many heads have in common.
type whose struct {
	publisher feedring.PeerID
	theme     feedring.Theme
	private   bool
}

func newHeadRow(s *refState) *headRow {
	return &headRow{
		url: s.Ref.URL, whose: unique.Make(whose{s.Ref.Publisher, s.Theme, s.Private}),
		first: s.First, last: s.Last, hash: s.Hash, count: uint32(s.Count), id: s.id,
		seconds: s.Seen.Unix(), nanos: uint32(s.Seen.Nanosecond()),
	}
}

func (r *headRow) ref() feedring.FeedRef {
	return feedring.FeedRef{URL: r.url, Publisher: r.whose.Value().publisher}
}

func (r *headRow) state() refState {
	w := r.whose.Value()
	return refState{id: r.id, Head: Head{
		Ref: feedring.FeedRef{URL: r.url, Publisher: w.publisher}, Theme: w.theme, Private: w.private,
		First: r.first, Last: r.last, Hash: r.hash, Count: int(r.count), Seen: time.Unix(r.seconds, int64(r.nanos)).UTC(),
	}}
}
