package personal

import (
	"errors"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/personal/rows"
	"github.com/feedring/feedring/internal/store"
)

// TestRetracted: an entry that its publisher took back, be it this peer or
// another, is shown no more, nor after a restart, and no copy of it is kept.
func TestRetracted(t *testing.T) {
	w := newWorld(t)
	s := w.subscribe(feedring.Query{Theme: "news"})
	for _, publisher := range []feedring.PeerID{self, "P"} {
		site := "of-" + string(publisher) + ".example"
		first := entry(publisher, site, 1, titled("gone"))
		w.publish(first)
		w.publish(entry(publisher, site, 2, titled("stays")))
		before, _ := w.room.State(s.Secret)
		w.publish(retraction(first, 3))
		if after, _ := w.room.State(s.Secret); after.Version == before.Version || after.Modified.Before(before.Modified) {
			t.Error("that something is gone is not told")
		}
		w.publish(entry(publisher, site, 4, titled("later")))
	}
	w.shows(s, "later stays later stays")
	before, _ := w.room.State(s.Secret)
	w.flushed()
	w.kill()
	w.restart()
	w.shows(s, "later stays later stays")
	if after, _ := w.room.State(s.Secret); after.Version != before.Version {
		t.Error("another version after the restart")
	}
	copies := 0
	for _, err := range w.store.ListPrefix(store.BucketSubscription, rows.Copies) {
		check(t, err)
		copies++
	}
	if copies != 2 {
		t.Errorf("%d copies of the two entries that are another's and not taken back", copies)
	}
}

// TestRetractedWhileAway: what was taken back while nothing ran is gone at the
// next start.
func TestRetractedWhileAway(t *testing.T) {
	w := newWorld(t)
	s := w.subscribe(feedring.Query{Theme: "news"})
	first := entry("P", "a.example", 1, titled("gone"))
	w.publish(first)
	w.publish(entry("P", "a.example", 2, titled("stays")))
	w.flushed()
	w.keep(retraction(first, 3))
	w.kill()
	w.restart()
	w.shows(s, "stays")
}

// TestRetractedLongAgo: the log goes on behind the retraction.
func TestRetractedLongAgo(t *testing.T) {
	w := newWorld(t)
	s := w.subscribe(feedring.Query{Theme: "news"})
	first := entry("P", "a.example", 1, titled("gone"))
	w.publish(first)
	w.publish(entry("P", "a.example", 2, titled("stays")))
	back := retraction(first, 3)
	it := store.Item{Ref: back.Ref(), Position: back.Position, ID: back.ID, Version: back.Version, Theme: back.Theme, Provider: back.Provider, Retraction: true}
	w.room.Retract(&it)
	w.shows(s, "stays")
	it.Ref.Publisher = "Q" // of whom nothing was ever here
	w.room.Retract(&it)
	w.publish(entry("P", "a.example", 7, titled("later")))
	w.shows(s, "later stays")
}

// TestOthersTakeNothingBack: a mirror takes back its own copy and not the
// site's, before or after that came; and what was taken back shows again if
// another publishes it.
func TestOthersTakeNothingBack(t *testing.T) {
	w := newWorld(t)
	s := w.subscribe(feedring.Query{Theme: "news"})
	of := func(publisher feedring.PeerID, n, at int, title string) feedring.Entry {
		return entry(publisher, "a.example", n, titled(title), func(e *feedring.Entry) { e.Position.Sequence = uint64(at) })
	}
	w.publish(of("Site", 1, 1, "site's"))
	mirrored := of("Mirror", 1, 1, "mirror's")
	w.publish(mirrored)
	w.publish(retraction(mirrored, 2))
	w.shows(s, "site's")

	early := of("Mirror", 2, 3, "too-early")
	w.publish(early)
	w.publish(retraction(early, 4))
	w.shows(s, "site's")
	w.publish(of("Site", 2, 2, "site's-too"))
	w.shows(s, "site's-too site's")

	own := of("Site", 3, 3, "of-the-site") // for whom the site stands: no mirror brings it back
	w.sites = map[feedring.FeedRef]string{own.Ref(): "a.example"}
	w.publish(own)
	w.publish(retraction(own, 4))
	w.publish(of("Mirror", 3, 5, "from-a-mirror"))
	w.shows(s, "site's-too site's")
}

// TestRetractedBeforeFilled: a peer that does not know it yet answers a query
// with what was taken back.
func TestRetractedBeforeFilled(t *testing.T) {
	w := newWorld(t)
	w.subscribe(feedring.Query{Theme: "sport"})
	gone, stays := entry("P", "a.example", 1, titled("gone")), entry("P", "a.example", 2, titled("stays"))
	w.publish(retraction(gone, 3))
	w.network.answer = []feedring.Entry{stays, gone}
	w.shows(w.subscribe(feedring.Query{Theme: "news"}), "stays")
}

// TestFollowTakesBack: what is followed elsewhere is taken back, too.
func TestFollowTakesBack(t *testing.T) {
	w := newWorld(t)
	s := w.subscribe(feedring.Query{Theme: "sport"})
	eventually(t, "followed", func() bool { return w.network.followed("sport") != nil })
	one := entry("P", "s.example", 1, func(e *feedring.Entry) { e.Theme = "sport" })
	w.network.followed("sport") <- one
	eventually(t, "shown", func() bool { return w.titles(s) == "1" })
	w.network.followed("sport") <- retraction(one, 2)
	eventually(t, "gone", func() bool { return w.titles(s) == "" })
	if _, err := w.room.copied(1); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a copy is kept: %v", err)
	}
}
