package node

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
)

// TestAbandonedGroups: what others published into a group that was left goes
// when it is past freshness, and the rest stays.
func TestAbandonedGroups(t *testing.T) {
	s, own := openStore(t), newSealer(t)
	old, now := time.Now().Add(-48*time.Hour), time.Now()
	put := func(url string, theme feedring.Theme, p *publisher, seen time.Time) feedring.FeedRef {
		p.now = func() time.Time { return seen }
		p.append(t, feedring.FeedSpec{URL: url, Theme: theme, Provider: "example.org"}, entries(1, 3)...)
		return feedring.FeedRef{URL: url, Publisher: p.self}
	}
	ours, others := writer(s, own), writer(s, newSealer(t))
	stale := put("https://a.example/", "sport", others, old)
	fresh := put("https://b.example/", "sport", others, now)
	member := put("https://d.example/", testTheme, others, old)
	left := put("https://e.example/", "sport", ours, old)
	private := put("https://f.example/", "", ours, old)

	p := &pruner{store: s, self: own.ID(), log: quiet, ctx: t.Context()}
	offered := map[feedring.Theme][]feedring.Feed{testTheme: nil}
	check(t, p.abandoned(now.Add(-24*time.Hour), offered))
	for _, want := range []struct {
		ref     feedring.FeedRef
		entries int
	}{{fresh, 3}, {member, 3}, {left, 3}, {private, 3}} {
		if got := len(log(t, s, want.ref)); got != want.entries {
			t.Errorf("%d entries of %s, want %d", got, want.ref.URL, want.entries)
		}
	}
	if _, ok := s.Head(stale); ok {
		t.Error("a feed of which nothing is left is remembered")
	}
	check(t, p.abandoned(now.Add(time.Hour), nil))
	if refs := s.Refs(); !slices.Equal(refs, sortedRefs(left, private)) {
		t.Errorf("in the end %v is known", refs)
	}
}

func sortedRefs(refs ...feedring.FeedRef) []feedring.FeedRef {
	slices.SortFunc(refs, feedring.FeedRef.Compare)
	return refs
}

// fakeBook is an address book whose Provide takes a while.
type fakeBook struct {
	mu       sync.Mutex
	provided map[feedring.GroupID]bool
	times    int
}

func (b *fakeBook) Provide(ctx context.Context, g feedring.GroupID) error {
	time.Sleep(time.Second) // virtual
	b.mu.Lock()
	defer b.mu.Unlock()
	b.provided[g] = true
	b.times++
	return errors.New("nobody answers")
}

func (b *fakeBook) Unprovide(g feedring.GroupID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.provided, g)
}

// TestProvidedNoLongerThanInside leaves a group while it is being provided.
func TestProvidedNoLongerThanInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := &fakeBook{provided: make(map[feedring.GroupID]bool)}
		p := &provider{
			book: book, log: quiet, spawn: func(f func()) bool { go f(); return true }, ctx: t.Context(),
			inside: make(map[feedring.GroupID]bool),
		}
		a, b := feedring.Theme("news").Group(), feedring.Theme("sport").Group()
		p.enter(a)
		p.enter(a) // another role
		p.enter(b)
		synctest.Wait()
		p.leave(b)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !book.provided[a] || book.provided[b] || book.times != 2 {
			t.Errorf("provided %v, asked %d times", book.provided, book.times)
		}
		p.leave(a)
		if len(book.provided) != 0 {
			t.Errorf("provided %v", book.provided)
		}
	})
}

// TestDroppedIsRemembered: how far copies were dropped is known at the next start,
// where by then that is fresh: the clock was ahead, and was set back.
func TestDroppedIsRemembered(t *testing.T) {
	s, now := openStore(t), time.Now()
	p := &pruner{store: s, self: "self", log: quiet, ctx: t.Context()}
	g := testTheme.Group()
	fresh := now.Add(-24 * time.Hour)
	dropped := func() time.Time {
		at, err := droppedTo(s, g, fresh)
		check(t, err)
		return at
	}
	check(t, p.drop(g, fresh))
	if at := dropped(); !at.IsZero() {
		t.Errorf("what was dropped by the right date counts: %s", at)
	}
	ahead := fresh.Add(6 * time.Hour)
	check(t, p.drop(g, ahead))
	check(t, p.drop(g, fresh.Add(time.Minute))) // set back
	if at := dropped(); !at.Equal(ahead.Round(0)) {
		t.Errorf("dropped up to %s, and %s is remembered", ahead, at)
	}
	other := feedring.Theme("sport").Group()
	if at, err := droppedTo(s, other, fresh); err != nil || !at.IsZero() {
		t.Errorf("of another group: %s, %v", at, err)
	}
}
