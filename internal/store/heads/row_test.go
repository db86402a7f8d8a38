package heads

import (
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store/rows"
)

func TestHeadRowIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(headRow{}); size > 96 {
		t.Errorf("the head of a log takes %d bytes, and there may be a million", size)
	}
}

// TestHeadRowKeepsAll takes heads of all kinds to rows and back.
func TestHeadRowKeepsAll(t *testing.T) {
	at := func(epoch, sequence uint64) feedring.Position {
		return feedring.Position{Epoch: epoch, Sequence: sequence}
	}
	ref := feedring.FeedRef{URL: "https://a/feed", Publisher: "p"}
	seen := time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC)
	for _, h := range []rows.Head{
		{Ref: ref},
		{Ref: ref, Private: true, First: at(7, 1), Last: at(7, 9), Hash: [32]byte{1, 31: 2}, Count: 9, Seen: seen},
		{Ref: ref, Theme: "news", First: at(7, 3), Last: at(8, 1), Hash: [32]byte{3}, Count: 4, Seen: seen}, // began anew
		{Ref: ref, Theme: "news", Last: at(8, 1), Hash: [32]byte{3}, Seen: seen},                            // all was pruned
		{Ref: ref, First: at(1, 1), Last: at(math.MaxUint64, math.MaxUint64), Count: min(math.MaxInt, math.MaxUint32), Seen: time.Unix(-1, 1).UTC()},
	} {
		want := State{ID: 42, Head: h}
		if got := newHeadRow(&want).state(); got != want {
			t.Errorf("%+v became %+v", want, got)
		}
	}
	for _, year := range []int{1, 2500} {
		h := newHeadRow(&State{Head: rows.Head{Ref: ref, Seen: time.Date(year, 5, 1, 0, 0, 0, 0, time.UTC)}}).state()
		if h.Seen.Year() != min(max(year, 1677), 2262) {
			t.Errorf("the year %d became %v", year, h.Seen)
		}
	}
}
