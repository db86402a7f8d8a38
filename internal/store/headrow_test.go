package store

import (
	"fmt"
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/feedring/feedring"
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
	for _, h := range []Head{
		{Ref: ref},
		{Ref: ref, Private: true, First: at(7, 1), Last: at(7, 9), Hash: [32]byte{1, 31: 2}, Count: 9, Seen: seen},
		{Ref: ref, Theme: "news", First: at(7, 3), Last: at(8, 1), Hash: [32]byte{3}, Count: 4, Seen: seen}, // began anew
		{Ref: ref, Theme: "news", Last: at(8, 1), Hash: [32]byte{3}, Seen: seen},                            // all was pruned
		{Ref: ref, First: at(1, 1), Last: at(math.MaxUint64, math.MaxUint64), Count: min(math.MaxInt, math.MaxUint32), Seen: time.Unix(-1, 1).UTC()},
	} {
		want := refState{id: 42, Head: h}
		if got := newHeadRow(&want).state(); got != want {
			t.Errorf("%+v became %+v", want, got)
		}
	}
	for _, year := range []int{1, 2500} {
		h := newHeadRow(&refState{Head: Head{Ref: ref, Seen: time.Date(year, 5, 1, 0, 0, 0, 0, time.UTC)}}).state()
		if h.Seen.Year() != min(max(year, 1677), 2262) {
			t.Errorf("the year %d became %v", year, h.Seen)
		}
	}
}

// TestHeadsOutliveATrim opens the database anew, for its memory's sake: what is
// held of logs is not read again, and is what the disk has.
func TestHeadsOutliveATrim(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	s.trimmer.busy = 1 // a trim after each write
	fill(t, s, 100, 100)
	ref := s.Refs()[0]
	row := s.heads.byRef.Get(ref)
	check(t, s.Put(ctx, BucketFeed, "x", []byte("y")))
	check(t, s.Put(ctx, BucketFeed, "z", []byte("y"))) // after the trim
	if s.heads.byRef.Get(ref) != row {
		t.Error("the heads were read from disk again")
	}
	before := s.Heads()
	check(t, s.Close())
	s = open(t, dir, Options{})
	if after := s.Heads(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("on disk:   %v\nin memory: %v", after, before)
	}
}
