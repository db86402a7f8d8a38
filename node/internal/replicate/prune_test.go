package replicate

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
	"github.com/feedring/feedring/node/internal/nodetest"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// TestCopiesOfGroupsThatWereLeftAreDropped: what others published into a group that was left goes
// when it is past freshness, and the rest stays.
func TestCopiesOfGroupsThatWereLeftAreDropped(t *testing.T) {
	s, own := openStore(t), newSealer(t)
	old, now := time.Now().Add(-48*time.Hour), time.Now()
	put := func(url string, theme feedring.Theme, p *testWriter, seen time.Time) feedring.FeedRef {
		p.clock.At = seen
		p.append(t, feedring.FeedSpec{URL: url, Theme: theme, Provider: "example.org"}, entries(1, 3)...)
		return feedring.FeedRef{URL: url, Publisher: p.Self}
	}
	ours, others := writer(s, own), writer(s, newSealer(t))
	stale := put("https://a.example/", "sport", others, old)
	fresh := put("https://b.example/", "sport", others, now)
	member := put("https://d.example/", testTheme, others, old)
	left := put("https://e.example/", "sport", ours, old)
	private := put("https://f.example/", "", ours, old)

	p := newReplicator(t, s, own.ID(), nil, 0)
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

// TestDroppedIsRemembered: how far copies were dropped is known at the next start,
// where by then that is fresh: the clock was ahead, and was set back.
func TestDroppedIsRemembered(t *testing.T) {
	s, now := openStore(t), time.Now()
	p := newReplicator(t, s, "self", nil, 0)
	g := testTheme.Group()
	fresh := now.Add(-24 * time.Hour)
	dropped := func() time.Time {
		at, err := DroppedTo(s, g, fresh)
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
	if at, err := DroppedTo(s, other, fresh); err != nil || !at.IsZero() {
		t.Errorf("of another group: %s, %v", at, err)
	}
}

// TestPollNotesWhatTheHolderDropped polls a holder whose clock is ahead: it has dropped what
// is fresh here. That is noted, and told onward, from the first entry on.
func TestPollNotesWhatTheHolderDropped(t *testing.T) {
	p := newDroppers(t)
	g, fresh := testTheme.Group(), time.Now().Add(-24*time.Hour)
	ahead := fresh.Add(5 * time.Minute)
	if got := p.ask(t, "holder", feedring.Position{}, fresh); !got.Dropped.IsZero() || len(log(t, p.store, p.ref)) != 6 {
		t.Fatalf("before anything was dropped: up to %s, %d entries", got.Dropped, len(log(t, p.store, p.ref)))
	}
	whole := p.store
	p.begin(openStore(t))
	check(t, p.holder.drop(g, ahead))
	if got := p.ask(t, p.ref.Publisher, feedring.Position{}, fresh); !got.Dropped.IsZero() {
		t.Errorf("a publisher that says so is believed: %s", got.Dropped)
	}
	p.begin(openStore(t))
	got := p.ask(t, "holder", feedring.Position{}, fresh)
	at, err := DroppedTo(p.store, g, fresh)
	check(t, err)
	if got.Dropped.Before(ahead) || got.Dropped.After(ahead.Add(time.Millisecond)) || !at.Equal(got.Dropped) || len(log(t, p.store, p.ref)) != 3 {
		t.Errorf("told %s, noted %s, dropped %s; %d entries", got.Dropped, at, ahead, len(log(t, p.store, p.ref)))
	}
	onward, err := p.peer.dropped(p.ref, feedring.Position{}, fresh, fresh)
	check(t, err)
	if !onward.Equal(at) {
		t.Errorf("it tells %s onward, not %s", onward, at)
	}
	p.begin(whole)
	if got := p.ask(t, "holder", whole.LogHead(p.ref).Position, fresh); !got.Dropped.IsZero() {
		t.Errorf("who has what was dropped is told of %s", got.Dropped)
	}
}

// TestHolderTellsWhatWasOldWhenItPolled polls a holder that dropped nothing: by its clock, which is ahead,
// what it lacks was old when it polled.
func TestHolderTellsWhatWasOldWhenItPolled(t *testing.T) {
	p := newDroppers(t)
	fresh := time.Now().Add(-24 * time.Hour)
	ahead := fresh.Add(5 * time.Minute)
	holder := newPollers(t)
	holder.publisher, holder.ref = p.publisher, p.ref
	_, err := holder.poll(ahead)
	check(t, err)
	p.holder = newReplicator(t, holder.store, "holder", nil, 0)
	at, err := p.holder.dropped(p.ref, feedring.Position{}, fresh, ahead)
	check(t, err)
	if !at.Equal(ahead) || len(log(t, holder.store, p.ref)) != 3 {
		t.Errorf("it tells %s, and lacks what was seen up to %s", at, ahead)
	}
}

// TestPollOfALyingHolderPromisesLessForMinutes: by what another says, less is promised for some minutes, and only
// where an entry came that something may be missing before.
func TestPollOfALyingHolderPromisesLessForMinutes(t *testing.T) {
	p := newPollers(t)
	p.publisher.append(t, testSpec, entries(1, 6)...)
	now := time.Now()
	fresh := now.Add(-24 * time.Hour)
	for name, test := range map[string]struct {
		twist func(*feedringv1.PollPart)
		want  time.Time
		items int
	}{
		"from the first entry on": {func(*feedringv1.PollPart) {}, time.Time{}, 6},
		"without an entry":        {func(part *feedringv1.PollPart) { part.Items = nil }, time.Time{}, 0},
		"with a forged one":       {func(part *feedringv1.PollPart) { part.Items = part.Items[3:]; part.Items[0].Signature[7]++ }, time.Time{}, 0},
		"from the fourth on":      {func(part *feedringv1.PollPart) { part.Items = part.Items[3:] }, fresh.Add(10 * time.Minute), 3},
	} {
		p.begin(openStore(t))
		p.twist = func(part *feedringv1.PollPart) {
			test.twist(part)
			polls.DroppedTo(part, now.Add(1000*time.Hour))
		}
		got, err := p.peer.poll(group.Fetch{Group: testTheme.Group(), Feed: p.ref, From: "holder", Fresh: fresh})
		if n := len(log(t, p.store, p.ref)); !got.Dropped.Equal(test.want) || n != test.items {
			t.Errorf("%s: %s, not %s, and %d entries, %v", name, got.Dropped, test.want, n, err)
		}
		if at, err := DroppedTo(p.store, testTheme.Group(), fresh); err != nil || !at.Equal(test.want) {
			t.Errorf("%s: noted is %s, %v", name, at, err)
		}
	}
	p.twist = func(part *feedringv1.PollPart) { part.DroppedUnixMs = math.MinInt64 }
	if _, err := p.peer.poll(group.Fetch{Group: testTheme.Group(), Feed: p.ref, From: "holder"}); err == nil {
		t.Error("what is no date is believed")
	}
}

// TestPollRefusesAHole: an answer to who holds nothing may begin anywhere, and has no hole.
func TestPollRefusesAHole(t *testing.T) {
	p := newPollers(t)
	p.publisher.append(t, testSpec, entries(1, 6)...)
	p.twist = func(part *feedringv1.PollPart) { part.Items = append(part.Items[1:2:2], part.Items[4:]...) }
	if _, err := p.poll(time.Now().Add(-time.Hour)); !errors.Is(err, wire.ErrChain) || len(log(t, p.store, p.ref)) != 1 {
		t.Errorf("%v, and %d entries", err, len(log(t, p.store, p.ref)))
	}
}

// newDroppers is three entries of 23 hours and 58 minutes ago and three of now, a holder that
// has them all, and a peer that polls it.
func newDroppers(t *testing.T) *pollers {
	p := newPollers(t)
	old := time.Now().Add(2*time.Minute - 24*time.Hour)
	p.publisher.clock.At = old
	p.publisher.append(t, testSpec, entries(1, 3)...)
	*p.publisher.clock = nodetest.Clock{}
	p.publisher.append(t, testSpec, entries(4, 6)...)
	holder := newPollers(t)
	holder.publisher, holder.ref = p.publisher, p.ref
	_, err := holder.poll(time.Now().Add(-24 * time.Hour))
	check(t, err)
	p.holder = newReplicator(t, holder.store, "holder", nil, 0)
	p.publisher = writer(holder.store, newSealer(t))
	return p
}

func (p *pollers) ask(t *testing.T, from feedring.PeerID, after feedring.Position, fresh time.Time) group.Fetched {
	t.Helper()
	got, err := p.peer.poll(group.Fetch{Group: testTheme.Group(), Feed: p.ref, From: from, After: after, Fresh: fresh})
	check(t, err)
	return got
}

// TestErasedCopy: nothing of a feed is left, and nobody is told of a copy.
func TestErasedCopy(t *testing.T) {
	s, sealer := openStore(t), newSealer(t)
	w := writer(s, sealer)
	w.append(t, testSpec, entries(0, 3)...)
	r := newReplicator(t, s, "other", nil, testKeep)
	ref := feedring.FeedRef{URL: testURL, Publisher: sealer.ID()}
	if _, copied := r.copies.since(ref); !copied {
		t.Fatal("there is no copy")
	}
	check(t, r.Erase(t.Context(), ref))
	check(t, r.Erase(t.Context(), ref))
	if _, held := s.Head(ref); held {
		t.Error("entries are left")
	}
	if _, copied := r.copies.since(ref); copied {
		t.Error("the copy is kept in mind")
	}
}
