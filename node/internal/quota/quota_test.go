package quota

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/standing"
)

// plenty bounds nobody.
var plenty = Config{Cache: 1 << 50, Kept: day}

var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func feedOf(publisher string, n int) feedring.FeedRef {
	return feedring.FeedRef{URL: fmt.Sprintf("https://%s.example/%d", publisher, n), Publisher: feedring.PeerID(publisher)}
}

// stored is how many of count entries of a size a feed has stored.
func stored(q *Quotas, ref feedring.FeedRef, of standing.Quota, size, count int, now time.Time) int {
	return q.Take(ref, of, slices.Repeat([]int{size}, count), now)
}

// TestBytesOfAPublisher: all feeds of a publisher share its bytes, which come back in a day,
// and others have their own.
func TestBytesOfAPublisher(t *testing.T) {
	q, of, entry := New(plenty), standing.New.Quota(), 100<<10
	most := of.Bytes / (entry + overhead)
	got := 0
	for n := range 4 {
		got += stored(q, feedOf("a", n), of, entry, most/2, begin)
	}
	if got != most {
		t.Errorf("%d entries are stored, want %d", got, most)
	}
	if !q.Spent(feedOf("a", 9), of, begin) || q.Spent(feedOf("b", 9), of, begin) {
		t.Error("its other feeds are spent too, and nobody else's")
	}
	if got := stored(q, feedOf("b", 0), of, entry, 2*most, begin); got != most {
		t.Errorf("another publisher has %d, want %d", got, most)
	}
	if got := stored(q, feedOf("a", 0), of, entry, most, begin.Add(day/2)); got < most/2-1 || got > most/2+1 {
		t.Errorf("after half a day it has %d, want half of %d", got, most)
	}
	if q.Spent(feedOf("a", 0), of, begin.Add(2*day)) {
		t.Error("it is spent after two quiet days")
	}
}

// TestEntriesOfAFeed: after a first burst a feed has so many entries an hour as the standing
// of its publisher says.
func TestEntriesOfAFeed(t *testing.T) {
	for _, of := range []standing.Quota{standing.New.Quota(), standing.Settled.Quota(), standing.Vouched.Quota()} {
		q := New(plenty)
		if got := stored(q, feedOf("a", 0), of, 100, firstEntries+10, begin); got != firstEntries {
			t.Errorf("%+v: %d at first, want %d", of, got, firstEntries)
		}
		if got := stored(q, feedOf("a", 1), of, 100, 10, begin); got != 10 {
			t.Errorf("%+v: another feed has %d", of, got)
		}
		if got, want := stored(q, feedOf("a", 0), of, 100, 10_000, begin.Add(time.Hour)), min(of.Entries, firstEntries); got < want-1 || got > want {
			t.Errorf("%+v: %d after an hour, want %d", of, got, want)
		}
	}
}

// TestHigherStanding: who is vouched for meanwhile has the higher quota at once, less what it
// used.
func TestHigherStanding(t *testing.T) {
	q, entry := New(plenty), 100<<10
	first := stored(q, feedOf("a", 0), standing.New.Quota(), entry, 1000, begin)
	got := first + stored(q, feedOf("a", 0), standing.Settled.Quota(), entry, 1000, begin)
	if want := standing.Settled.Quota().Bytes / (entry + overhead); got != want {
		t.Errorf("%d entries, want %d", got, want)
	}
}

// TestNoQuota: a publisher without a prefix is not bounded, and no account is kept of it.
func TestNoQuota(t *testing.T) {
	q := New(plenty)
	if got := stored(q, feedOf("a", 0), standing.Quota{}, 1<<20, 100_000, begin); got != 100_000 || q.Spent(feedOf("a", 0), standing.Quota{}, begin) {
		t.Errorf("%d entries are stored", got)
	}
	if len(q.bytes)+len(q.entries) != 0 {
		t.Error("an account is kept")
	}
}

// TestAccountsAreForgotten: accounts that nobody uses do not stay.
func TestAccountsAreForgotten(t *testing.T) {
	q, of := New(plenty), standing.New.Quota()
	now := begin
	for n := range 20_000 {
		now = now.Add(time.Minute)
		stored(q, feedOf(fmt.Sprint(n), 0), of, 100, 1, now)
	}
	if n := len(q.bytes) + len(q.entries); n > 16_000 {
		t.Errorf("%d accounts are kept", n)
	}
	spent := feedOf("spent", 0)
	stored(q, spent, of, 100<<10, 1000, now)
	for n := range 20_000 {
		stored(q, feedOf(fmt.Sprint("again", n), 0), of, 100, 1, now)
	}
	if !q.Spent(spent, of, now) {
		t.Error("an account that is used up was forgotten")
	}
}

// TestReturn gives back what was charged for entries that could not be stored.
func TestReturn(t *testing.T) {
	q, of, ref := New(plenty), standing.New.Quota(), feedOf("a", 0)
	for range 100 { // a full disk, asked again and again
		if got := stored(q, ref, of, 100<<10, 50, begin); got != 50 {
			t.Fatalf("%d of 50 have room", got)
		}
		q.Return(ref, of, slices.Repeat([]int{100 << 10}, 50), begin)
	}
	q.Return(ref, of, slices.Repeat([]int{100 << 10}, 50), begin)
	if got := stored(q, ref, of, 100, firstEntries+10, begin); got != firstEntries {
		t.Errorf("%d have room, want %d: no more comes back than was charged", got, firstEntries)
	}
}

// TestManyPublishers: all new publishers together fill their part of the cache and no more,
// and those that a site names have theirs all the same. It comes back as entries are dropped.
func TestManyPublishers(t *testing.T) {
	const cache, entry = 1600 << 20, 100 << 10
	q := New(Config{Cache: cache, Kept: 10 * day})
	fill := func(of standing.Quota, name string, publishers int, now time.Time) (bytes int) {
		for n := range publishers {
			bytes += stored(q, feedOf(fmt.Sprint(name, n), 0), of, entry, 10_000, now) * (entry + overhead)
		}
		return bytes
	}
	within := func(got, want int, what string) {
		t.Helper()
		if got > want || got < want*9/10 {
			t.Errorf("%s: %d MiB, want %d", what, got>>20, want>>20)
		}
	}
	within(fill(standing.New.Quota(), "new", 1000, begin), cache/4, "a thousand new publishers")
	if !q.Spent(feedOf("another", 0), standing.New.Quota(), begin) || q.Spent(feedOf("another", 0), standing.Settled.Quota(), begin) {
		t.Error("what is spent is not the part of the new ones alone")
	}
	within(fill(standing.Settled.Quota(), "settled", 1000, begin), cache/4, "settled ones after them")
	within(fill(standing.Vouched.Quota(), "vouched", 100, begin), cache/2, "vouched ones after them")
	within(fill(standing.New.Quota(), "later", 1000, begin.Add(5*day)), cache/8, "new ones when half is dropped")
}

// TestFewPublishersLeaveRoom: two that take all they may leave what others of their class need.
func TestFewPublishersLeaveRoom(t *testing.T) {
	const cache, entry = 1600 << 20, 100 << 10
	q, of := New(Config{Cache: cache, Kept: day}), standing.Vouched.Quota()
	for n := range 2 {
		stored(q, feedOf(fmt.Sprint("greedy", n), 0), of, entry, 10_000, begin)
	}
	for n := range 4 {
		if got := stored(q, feedOf(fmt.Sprint("modest", n), 0), of, entry, 300, begin); got != 300 || q.Spent(feedOf("next", 0), of, begin) {
			t.Errorf("one that comes after them has %d of 300 entries", got)
		}
	}
}

// TestRestart: what was used before a restart is used after it, less what came back meanwhile.
func TestRestart(t *testing.T) {
	cfg := Config{Cache: 40 << 20, Kept: day}
	q, of, entry := New(cfg), standing.New.Quota(), 100<<10
	ref := feedOf("a", 0)
	before := stored(q, ref, of, entry, 1000, begin)
	stored(q, feedOf("b", 0), standing.Vouched.Quota(), 10, firstEntries, begin)
	saved, changed := q.Save()
	if _, again := q.Save(); !changed || again || before == 0 {
		t.Fatalf("%d stored, changed %v, then %v", before, changed, again)
	}
	after := func(now time.Time) *Quotas {
		q := New(cfg)
		q.Restore(saved, now)
		return q
	}
	if got := stored(after(begin), ref, of, entry, 1000, begin); got != 0 {
		t.Errorf("%d more are stored after a restart", got)
	}
	if got := stored(after(begin), feedOf("c", 0), of, entry, 1000, begin); got >= before {
		t.Errorf("a restart made room in the part of new publishers for %d, of %d", got, before)
	}
	if got := stored(after(begin), feedOf("b", 0), standing.Vouched.Quota(), 10, 10, begin); got != 0 {
		t.Errorf("the feed has %d entries more", got)
	}
	if got := stored(after(begin.Add(day)), ref, of, entry, 1000, begin.Add(day)); got < before-1 {
		t.Errorf("a day later there is room for %d, want %d", got, before)
	}
	back := begin.Add(-7 * day) // the clock was set back
	if got := stored(after(back), ref, of, entry, 1000, back.Add(day)); got < before-1 {
		t.Errorf("a day after a clock was set back there is room for %d, want %d", got, before)
	}
}

// TestSavedIsBounded: of many accounts those are saved of which most is used.
func TestSavedIsBounded(t *testing.T) {
	q, of := New(plenty), standing.Vouched.Quota()
	for i := range maxSaved {
		stored(q, feedOf(fmt.Sprint("p", i), 0), of, 1000+i, 1, begin)
	}
	stored(q, feedOf("last", 0), of, 100_000, 2, begin)
	saved, _ := q.Save()
	if len(saved) > maxSaved+1 || !slices.ContainsFunc(saved, func(s Saved) bool { return s.Publisher == "last" && s.Feed == "" }) ||
		!slices.ContainsFunc(saved, func(s Saved) bool { return s.Publisher == "last" && s.Feed != "" }) {
		t.Errorf("%d accounts", len(saved))
	}
}
