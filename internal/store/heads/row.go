package heads

import (
	"math"
	"time"
	"unique"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/rows"
)

// headRow is a State as it is kept: 96 bytes and the address. There may be a
// million.
type headRow struct {
	url   string
	whose unique.Handle[whose]
	last  feedring.Position
	first uint64 // sequence; its epoch is that of last, or whose.began
	seen  instant
	hash  [32]byte
	count uint32
	id    rows.RefID
}

// whose is what very many heads have in common.
type whose struct {
	publisher feedring.PeerID
	theme     feedring.Theme
	private   bool
	began     uint64 // the epoch of the first entry where that is not the last one's; few logs are of two epochs
}

func newHeadRow(s *State) *headRow {
	w := whose{publisher: s.Ref.Publisher, theme: s.Theme, private: s.Private}
	if s.First.Epoch != s.Last.Epoch {
		w.began = s.First.Epoch
	}
	return &headRow{
		url: s.Ref.URL, whose: unique.Make(w), last: s.Last, first: s.First.Sequence, seen: instantOf(s.Seen), hash: s.Hash,
		count: uint32(s.Count), id: s.ID,
	}
}

func (r *headRow) ref() feedring.FeedRef {
	return feedring.FeedRef{URL: r.url, Publisher: r.whose.Value().publisher}
}

func (r *headRow) state() State {
	w := r.whose.Value()
	return State{ID: r.id, Head: rows.Head{
		Ref: feedring.FeedRef{URL: r.url, Publisher: w.publisher}, Theme: w.theme, Private: w.private,
		First: r.begins(w.began), Last: r.last, Hash: r.hash, Count: int(r.count), Seen: r.seen.time(),
	}}
}

// begins is the position of the first entry; the zero one where none is left.
func (r *headRow) begins(epoch uint64) feedring.Position {
	switch {
	case r.first == 0:
		return feedring.Position{}
	case epoch == 0:
		epoch = r.last.Epoch
	}
	return feedring.Position{Epoch: epoch, Sequence: r.first}
}

// instant is a time in Unix nanoseconds: what is beyond 1678 or 2262, which no
// clock tells, is at that end. The least stands for the zero time.
type instant int64

const never instant = math.MinInt64

func instantOf(t time.Time) instant {
	least, most := time.Unix(0, math.MinInt64+1), time.Unix(0, math.MaxInt64)
	switch {
	case t.IsZero():
		return never
	case t.Before(least):
		t = least
	case t.After(most):
		t = most
	}
	return instant(t.UnixNano())
}

func (i instant) time() time.Time {
	if i == never {
		return time.Time{}
	}
	return time.Unix(0, int64(i)).UTC()
}
