package personal

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/personal/rows"
	"github.com/feedring/feedring/internal/store"
)

// ofDate dates the n-th entry of a feed by seconds.
func ofDate(n int) func(*feedring.Entry) {
	return func(e *feedring.Entry) {
		e.Published = time.Now().UTC().Truncate(time.Hour).Add(time.Duration(n-3600) * time.Second)
	}
}

// leave goes on without a fleet, or with it again.
func (w *world) leave(alone bool) {
	w.t.Helper()
	w.end()
	w.alone = alone
	w.restart()
}

// onDisk is the rows of a kind.
func (w *world) onDisk(kind string) map[string]string {
	w.t.Helper()
	w.flushed()
	all := make(map[string]string)
	for r, err := range w.store.ListPrefix(store.BucketSubscription, kind) {
		check(w.t, err)
		all[r.Key] = string(r.Value)
	}
	return all
}

// Without a fleet adopted lists stay on disk, closed, and own ones go on. With it they are
// shown again once they have what came meanwhile, those that were not revoked.
func TestListsOfAFleetThatIsLeftStayClosed(t *testing.T) {
	w := newWorld(t)
	dated := func(n int) feedring.Entry { return entry("P", "a.example", n, titled(fmt.Sprint("e", n)), ofDate(n)) }
	own := w.subscribe(feedring.Query{Theme: "news"})
	theirs := w.adopt(1, feedring.Query{Theme: "news", Limit: 3})
	revoked := w.adopt(2, feedring.Query{Theme: "news", Words: "e1 OR e2 OR e4"})
	for n := 1; n <= 3; n++ {
		w.publish(dated(n))
	}
	w.shows(theirs, "e3 e2 e1")
	subscriptions, entries := w.onDisk(rows.Subscriptions), w.onDisk(rows.Entries)
	w.leave(true)
	for n := 4; n <= 5; n++ {
		interests, given, asked := w.onDisk(rows.Interests), w.given, w.network.asked
		w.publish(dated(n))
		for _, s := range []Subscription{theirs, revoked} {
			if _, ok := w.room.State(s.Secret); ok || w.room.Holds(s.ID) {
				t.Errorf("%s is open", s.ID)
			}
		}
		if ids := slices.Collect(w.room.Adopted()); len(ids) != 0 || w.room.Interests() != 1 || w.room.Readers("news", "a.example") != 1 || w.given != given+1 || w.network.asked != asked {
			t.Errorf("%q are adopted, %d interests, %d readers, an entry was given to %d, %d queries", ids, w.room.Interests(), w.room.Readers("news", "a.example"), w.given-given, w.network.asked-asked)
		}
		if all := w.listed(); len(all) != 1 || all[0].ID != own.ID {
			t.Errorf("the owner has %+v", all)
		}
		if !maps.Equal(w.onDisk(rows.Subscriptions), subscriptions) || !maps.Equal(w.onDisk(rows.Interests), interests) {
			t.Error("other rows are on disk")
		}
		w.leave(true)
	}
	w.shows(own, "e5 e4 e3 e2 e1")
	for key := range entries {
		if w.onDisk(rows.Entries)[key] == "" {
			t.Error("an entry of a closed list is gone")
		}
	}

	w.network.answer, w.network.broken = []feedring.Entry{dated(4)}, true
	w.network.mu.Lock() // nobody is answered
	w.leave(false)
	if _, ok := w.room.State(theirs.Secret); ok {
		t.Error("it is shown without what came meanwhile")
	}
	if ids := slices.Sorted(w.room.Adopted()); !slices.Equal(ids, []string{theirs.ID, revoked.ID}) {
		t.Errorf("%q are adopted", ids)
	}
	check(t, w.room.Forget(t.Context(), revoked.ID))
	w.room.changing.Lock()
	in := w.room.byID.Get(theirs.ID).interest
	w.room.changing.Unlock()
	w.network.mu.Unlock()
	eventually(t, "it is shown", func() bool { return w.room.Wait(t.Context(), theirs.ID) })
	w.shows(theirs, "e4 e3 e2") // the first answer was not whole
	w.network.mu.Lock()
	w.network.answer, w.network.broken = []feedring.Entry{dated(5), dated(4), dated(3), dated(2), dated(1)}, false
	w.network.mu.Unlock()
	w.room.fills <- in
	eventually(t, "it has what came meanwhile", func() bool { return w.titles(theirs) == "e5 e4 e3" })
	w.publish(dated(6))
	w.shows(theirs, "e6 e5 e4")
	w.leave(false)
	w.shows(theirs, "e6 e5 e4")
	if _, ok := w.room.State(revoked.Secret); ok || len(w.onDisk(rows.Interests)) != 2 {
		t.Error("what was revoked is on disk")
	}
}

// What is erased, or taken back before anybody here subscribes again, comes back with no list
// of the fleet. A private copy never takes the place of a public one there.
func TestWhatIsErasedLeavesListsOfAFleetThatIsLeft(t *testing.T) {
	w := newWorld(t)
	theirs := w.adopt(1, feedring.Query{})
	for i, by := range []feedring.PeerID{"P", "Q", "R"} {
		w.publish(entry(by, fmt.Sprint(i, ".example"), 1, titled(string(by)), ofDate(i)))
	}
	w.shows(theirs, "R Q P")
	w.leave(true)
	w.publish(retraction(entry("P", "0.example", 1), 2))
	own := w.subscribe(feedring.Query{})
	w.lookAtAll()
	w.room.EraseFeed(feedring.FeedRef{URL: "https://1.example/feed", Publisher: "Q"})
	w.sites[feedring.FeedRef{URL: "https://2.example/feed", Publisher: self}] = "2.example"
	w.publish(entry(self, "2.example", 1, titled("secret"), private, func(e *feedring.Entry) { e.Version = 2 }))
	w.publish(entry(self, "2.example", 2, titled("mine"), private))
	w.shows(own, "mine")
	if copies := w.onDisk(rows.Copies); len(copies) != 1 {
		t.Errorf("%d copies are on disk", len(copies))
	}
	w.leave(false)
	eventually(t, "it is shown", func() bool { return w.room.Wait(t.Context(), theirs.ID) })
	w.shows(theirs, "R")
}
