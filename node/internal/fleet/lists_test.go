package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/readerfeeds/personal"
	"github.com/feedring/feedring/internal/store"
)

// A reader whose poll is answered before the list was filled would be told that there is no
// such feed.
func TestAFeedThatIsBeingFilledIsNotAwake(t *testing.T) {
	f := newFleet(t, 2)
	secret, key, value := feed(7, 1)
	first, second, _ := f.in(key.ID.Slot())
	first.put(key, value)
	for _, m := range []*peer{first, second} {
		m.lists.Filling.Store(true)
		if err := m.Wake(t.Context(), secret); !errors.Is(err, ErrFilling) {
			t.Errorf("while it is filled: %v", err)
		}
		m.lists.Filling.Store(false)
		check(t, m.Wake(t.Context(), secret))
	}
}

func TestRowsAreKeptOverARestart(t *testing.T) {
	f := newFleet(t, 2)
	a := f.peers["A"]
	at := f.slotOf("A", "B")
	_, key, value := feed(at, 1)
	a.put(key, value)
	_, orphan, _ := feed(at, 2)
	check(t, a.disk.Put(t.Context(), store.BucketFleet, orphan.Record(), []byte("damaged")))
	check(t, a.lists.Adopt(t.Context(), personal.Adopted{ID: orphan.ID.String()}))
	f.minute()
	sum, status := a.slots[at].sum, a.Status()
	check(t, a.disk.Close())
	a.start(0)
	if a.slots[at].sum != sum {
		t.Error("another sum")
	}
	f.changed()
	a.reconcile(t.Context())
	f.minute()
	if got := a.Status(); got != status {
		t.Errorf("%+v, before %+v", got, status)
	}
	if a.lists.Holds(orphan.ID.String()) || !a.lists.Holds(key.ID.String()) {
		t.Error("what is open is not what there is")
	}
}

// TestRunDoesAllOfThisByItself: the driver's own goroutines.
func TestRunDoesAllOfThisByItself(t *testing.T) {
	f := newFleet(t, 2)
	a, b := f.peers["A"], f.peers["B"]
	at := f.slotOf("A", "B")
	_, key, value := feed(at, 1)
	row := fleet.Row{Key: key, Version: 1, Value: value}
	_, err := b.merge(t.Context(), []fleet.Row{row})
	check(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { a.Run(ctx) })
	late := time.After(20 * time.Second)
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !a.lists.Holds(key.ID.String()) {
		select {
		case <-look.C:
		case <-late:
			t.Fatal("a feed that only the keeper had is never open")
		}
	}
	a.Changed()
	cancel()
	running.Wait()
}

// Who is told of a feed is known to the peer that serves it: at once where that changes, and
// where the peer comes to serve the slot.
func TestWhoServesAFeedKnowsItsSubscribers(t *testing.T) {
	f := newFleet(t, 2)
	f.minute()
	a, b := f.peers["A"], f.peers["B"]
	at := f.slotOf("A", "B")
	_, key, value := feed(at, 1)
	a.put(key, value)
	f.minute()
	hook := fleet.Key{Kind: fleet.Hook, ID: at.ID(1 << 40)}
	has := func(p *peer) bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return slices.ContainsFunc(p.hooks, func(r fleet.Row) bool { return r.Key == hook && r.Live() })
	}
	if a.put(hook, []byte("{}")); !has(a) {
		t.Error("a new subscription is not known at once")
	}
	f.mu.Lock()
	b.hooks, b.moved = nil, 0
	f.mu.Unlock()
	f.quiet("A", true, false)
	b.openLists(t.Context())
	if !has(b) || b.moved == 0 {
		t.Error("the peer that takes over does not know it")
	}
	if b.put(key, nil); !slices.ContainsFunc(b.hooks, func(r fleet.Row) bool { return r.Key == key && !r.Live() }) {
		t.Error("the end of a feed is not known")
	}
}

// The owner's lists read slots with rows that they show, and not all that users have.
func TestTheOwnersListsReadNoSlotsOfUsersAlone(t *testing.T) {
	f := newFleet(t, 2)
	f.minute()
	a := f.peers["A"]
	mine, theirs := f.slotOf("A", "B"), fleet.Slot(0)
	for theirs = mine + 1; a.Places().Serves(theirs) != "A"; theirs++ {
	}
	_, key, value := feed(mine, 1)
	a.put(key, value)
	secret, of, _ := feed(theirs, 1)
	value, err := json.Marshal(fleet.FeedValue{Secret: secret, Theme: "news", User: "0123456789abcdef"})
	check(t, err)
	a.put(of, value)
	a.put(fleet.Key{Kind: fleet.User, ID: theirs.ID(1 << 40)}, []byte("{}"))
	is := func(feeds, users, invitations, of bool) {
		t.Helper()
		if a.Lists(mine, fleet.Feed) != feeds || a.Lists(theirs, fleet.User) != users || a.Lists(mine, fleet.Invitation) != invitations || a.Lists(theirs, fleet.Feed) != of {
			t.Errorf("feeds %t, users %t, invitations %t, feeds of a user %t", a.Lists(mine, fleet.Feed), a.Lists(theirs, fleet.User), a.Lists(mine, fleet.Invitation), a.Lists(theirs, fleet.Feed))
		}
	}
	is(true, true, false, false)
	a.put(fleet.Key{Kind: fleet.Invitation, ID: mine.ID(1 << 40)}, []byte("{}"))
	is(true, true, true, false)
	check(t, a.disk.Close())
	a.start(0)
	f.changed()
	f.minute()
	is(true, true, true, false)
	a.put(key, nil)
	is(false, true, true, false)
	a.mu.Lock()
	a.slots[theirs].since = a.epoch + 1
	a.mu.Unlock()
	if !a.Lists(theirs, fleet.Feed) {
		t.Error("a slot that others were not asked for is passed over")
	}
}
