package replicate

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/node/internal/nodetest"
)

const testKeep = 30 * 24 * time.Hour

func newCopies(t *testing.T, s *store.Store, self feedring.PeerID, keep time.Duration) *copies {
	return newReplicator(t, s, self, nil, keep).copies
}

// reaches checks how far a copy reaches: to at, or a little less where that was
// rounded.
func reaches(t *testing.T, c *copies, ref feedring.FeedRef, at time.Time) {
	t.Helper()
	since, ok := c.since(ref)
	if late := since.Sub(at); !ok || at.IsZero() != since.IsZero() || !at.IsZero() && (late < 0 || late > time.Second) {
		t.Errorf("it reaches to %v (%v), not %v", since, ok, at)
	}
}

func TestReachOfACopy(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	asked, seen := now.Add(-testKeep), now.Add(-time.Hour)
	items := func(epoch uint64, sequences ...uint64) (all []store.Item) {
		for i, n := range sequences {
			all = append(all, store.Item{Position: feedring.Position{Epoch: epoch, Sequence: n}, Seen: seen.Add(time.Duration(i) * time.Minute)})
		}
		return all
	}
	long := now.Add(-100 * time.Hour)
	for name, c := range map[string]struct {
		from  feedring.PeerID
		last  feedring.Position
		was   time.Time
		known bool
		items []store.Item
		want  time.Time
	}{
		"the first of the log":               {"cache", feedring.Position{}, time.Time{}, false, items(1, 1, 2), time.Time{}},
		"not the first, of the publisher":    {"p", feedring.Position{}, time.Time{}, false, items(1, 5, 6), asked},
		"not the first, of a cache":          {"cache", feedring.Position{}, time.Time{}, false, items(1, 5, 6), seen},
		"what follows":                       {"cache", feedring.Position{Epoch: 1, Sequence: 4}, long, true, items(1, 5, 6), long},
		"what follows a whole log":           {"cache", feedring.Position{Epoch: 1, Sequence: 4}, time.Time{}, true, items(1, 5, 6), time.Time{}},
		"a new epoch":                        {"cache", feedring.Position{Epoch: 1, Sequence: 4}, long, true, items(2, 1), long},
		"a gap":                              {"cache", feedring.Position{Epoch: 1, Sequence: 4}, long, true, items(1, 7), seen},
		"a gap after a whole log":            {"cache", feedring.Position{Epoch: 1, Sequence: 4}, time.Time{}, true, items(1, 7), seen},
		"a gap that the publisher leaves":    {"p", feedring.Position{Epoch: 1, Sequence: 4}, time.Time{}, true, items(1, 7), asked},
		"a gap amid":                         {"cache", feedring.Position{}, time.Time{}, false, items(1, 1, 2, 9), seen.Add(2 * time.Minute)},
		"a new epoch, not from its first on": {"cache", feedring.Position{Epoch: 1, Sequence: 4}, long, true, items(2, 3), seen},
		"nothing is known of what is held":   {"cache", feedring.Position{Epoch: 1, Sequence: 4}, time.Time{}, false, items(1, 5), seen},
	} {
		o := group.Fetch{Feed: feedring.FeedRef{URL: testURL, Publisher: "p"}, From: c.from, Fresh: asked}
		if got := sinceAfter(o, c.last, c.was, c.known, c.items); !got.Equal(c.want) {
			t.Errorf("%s: it reaches to %v, not %v", name, got, c.want)
		}
	}
}

// keepers is pollers whose peer keeps copies.
func keepers(t *testing.T) *pollers {
	p := newPollers(t)
	p.peer = newReplicator(t, p.store, "keeper", p, testKeep)
	return p
}

func (p *pollers) keep(t *testing.T, from feedring.PeerID) {
	t.Helper()
	now := time.Now()
	o := group.Fetch{
		Group: testTheme.Group(), Feed: p.ref, From: from, After: p.store.LogHead(p.ref).Position,
		Fresh: now.Add(-testKeep), Gap: now.Add(-24 * time.Hour),
	}
	got, err := p.peer.poll(o)
	check(t, err)
	p.peer.copies.afterPoll(o, got.Known)
}

// TestCopyIsWholeUntilItIsPruned polls a whole log, prunes it, and starts anew,
// as a keeper and then as none.
func TestCopyIsWholeUntilItIsPruned(t *testing.T) {
	p := keepers(t)
	old, now := time.Now().Add(-200*time.Hour), time.Now()
	p.publisher.clock.At = old
	p.publisher.append(t, testSpec, entries(1, 3)...)
	*p.publisher.clock = nodetest.Clock{}
	p.publisher.append(t, testSpec, entries(4, 6)...)
	p.keep(t, "another")
	c := p.peer.copies
	reaches(t, c, p.ref, time.Time{})

	none := func(feedring.FeedRef) bool { return false }
	check(t, p.peer.prune(now.Add(-300*time.Hour), none)) // nothing goes
	reaches(t, c, p.ref, time.Time{})
	before := now.Add(-100 * time.Hour)
	check(t, p.peer.prune(before, none))
	reaches(t, c, p.ref, before)
	if n := len(log(t, p.store, p.ref)); n != 3 {
		t.Errorf("%d entries are left", n)
	}
	reaches(t, newCopies(t, p.store, "keeper", testKeep), p.ref, before)

	if newCopies(t, p.store, "keeper", 0) != nil {
		t.Error("a peer that keeps nothing knows how far copies reach")
	}
	// What is not known any more is read from the log.
	first := log(t, p.store, p.ref)[0]
	reaches(t, newCopies(t, p.store, "keeper", testKeep), p.ref, first.Seen)
}

// TestCopyWithAGap: a keeper that was away for longer than others cache goes on
// where they do, and says so; the publisher still gives it all.
func TestCopyWithAGap(t *testing.T) {
	for _, c := range []struct {
		from string
		gap  bool
	}{{"cache", true}, {"publisher", false}} {
		t.Run(c.from, func(t *testing.T) {
			p := keepers(t)
			write := func(age time.Duration, from, to int) time.Time {
				at := time.Now().Add(-age)
				p.publisher.clock.At = at
				p.publisher.append(t, testSpec, entries(from, to)...)
				return at
			}
			write(200*time.Hour, 1, 3)
			p.keep(t, p.ref.Publisher)
			write(100*time.Hour, 4, 6)
			fresh := write(time.Hour, 7, 8)
			from := p.ref.Publisher
			if c.gap {
				from = "cache"
				_, err := p.publisher.Store.Prune(t.Context(), time.Now().Add(-24*time.Hour), func(feedring.FeedRef) bool { return false })
				check(t, err)
			}
			p.keep(t, from)
			if c.gap {
				reaches(t, p.peer.copies, p.ref, fresh)
			} else {
				reaches(t, p.peer.copies, p.ref, time.Time{})
			}
			reaches(t, newCopies(t, p.store, "keeper", testKeep), p.ref, map[bool]time.Time{true: fresh}[c.gap])
		})
	}
}

// TestCopyOfNothing: where nothing is so young that it is kept, nothing is
// lacking.
func TestCopyOfNothing(t *testing.T) {
	p := keepers(t)
	old := time.Now().Add(-2 * testKeep)
	p.publisher.clock.At = old
	p.publisher.append(t, testSpec, entries(1, 3)...)
	began := time.Now()
	p.keep(t, "another")
	since, ok := p.peer.copies.since(p.ref)
	if !ok || since.Before(began.Add(-testKeep)) || since.After(time.Now().Add(-testKeep)) {
		t.Errorf("it reaches to %v, %v", since, ok)
	}
}

// TestFullDiskShortensCopies: they are kept for half as long, once an hour, and
// not for less than entries are fresh.
func TestFullDiskShortensCopies(t *testing.T) {
	c := newCopies(t, openStore(t), "keeper", 3*24*time.Hour)
	now := time.Now()
	if got := c.pruneDate(now.Add(-72*time.Hour), now); !got.Equal(now.Add(-72 * time.Hour)) {
		t.Error("while there is room, copies go before", got)
	}
	for _, want := range []time.Duration{36 * time.Hour, 24 * time.Hour} {
		before, shorter := c.full(now)
		if !shorter || !before.Equal(now.Add(-want)) {
			t.Errorf("copies go before %v, %v", before, shorter)
		}
		if _, again := c.full(now.Add(time.Minute)); again {
			t.Error("a minute later they are halved again")
		}
		if got := c.pruneDate(now.Add(-72*time.Hour), now); !got.Equal(now.Add(-want)) {
			t.Error("later, copies go before", got)
		}
		now = now.Add(2 * time.Hour)
	}
	if _, again := c.full(now); again {
		t.Error("what is fresh goes")
	}
}
