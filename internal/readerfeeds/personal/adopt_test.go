package personal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

// adopt adopts a personal feed under an id of 16 digits and waits until it is shown.
func (w *world) adopt(n int, q feedring.Query) Subscription {
	w.t.Helper()
	a := adopted(n, q)
	check(w.t, w.room.Adopt(w.t.Context(), a))
	eventually(w.t, "it is shown", func() bool { return w.room.Wait(w.t.Context(), a.ID) })
	s, ok := w.room.State(a.Secret)
	if !ok {
		w.t.Fatal("what was adopted is not found")
	}
	return s.Subscription
}

func adopted(n int, q feedring.Query) Adopted {
	return Adopted{
		ID: fmt.Sprintf("%016x", n), Secret: fmt.Sprintf("secret-%d", n), Query: q, Created: time.Date(2099, 1, 1, 0, 0, n, 0, time.UTC),
	}
}

func private(e *feedring.Entry) { e.Theme = "" }

func TestAnAdoptedFeedShowsNoEntriesOfPrivateFeeds(t *testing.T) {
	w := newWorld(t)
	w.network.answer = []feedring.Entry{entry(self, "own.example", 1, titled("old-own"), private), entry("P", "a.example", 1, titled("old"))}
	w.keep(w.network.answer[0])
	own, theirs := w.subscribe(feedring.Query{Words: "old OR new"}), w.adopt(1, feedring.Query{Words: "old OR new"})
	w.shows(own, "old-own old")
	w.shows(theirs, "old")
	w.publish(entry(self, "own.example", 2, titled("new-own"), private))
	w.publish(entry("P", "a.example", 2, titled("new")))
	for range 2 {
		w.shows(own, "new new-own old-own old")
		w.shows(theirs, "new old")
		w.end()
		w.restart()
	}
	if own, theirs := w.room.interests.Len(), w.room.matcher.public; own != 2 || theirs != 1 {
		t.Errorf("%d interests, %d of them public", own, theirs)
	}
}

// TestAPrivateCopyNeverStandsForAPublicOne: one feed is a private feed of this peer and
// another peer's public one. Its entries are shown once to the owner, and to others as
// the public feed has them, whichever comes first.
func TestAPrivateCopyNeverStandsForAPublicOne(t *testing.T) {
	for _, c := range []struct {
		name        string
		own, theirs string
		first       feedring.PeerID
	}{
		{"the same text, private first", "one", "one", self}, {"the same text, public first", "one", "one", "P"},
		{"other texts, private first", "subscriber", "free", self}, {"other texts, public first", "subscriber", "free", "P"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			mine := func(at int, title string, version uint32) feedring.Entry {
				return entry(self, "a.example", 1, titled(title), private, func(e *feedring.Entry) { e.Position.Sequence, e.Version = uint64(at), version })
			}
			public := func(by feedring.PeerID, at int, title string, version uint32) feedring.Entry {
				return entry(by, "a.example", 1, titled(title), func(e *feedring.Entry) { e.Position.Sequence, e.Version = uint64(at), version })
			}
			own, theirs := w.subscribe(feedring.Query{}), w.adopt(1, feedring.Query{})
			copies := []feedring.Entry{mine(1, c.own, 1), public("P", 1, c.theirs, 1)}
			if c.first != self {
				slices.Reverse(copies)
			}
			for _, e := range copies {
				w.publish(e)
			}
			w.publish(public("Q", 1, c.theirs, 1)) // a mirror of the public one
			for range 2 {
				w.shows(theirs, c.theirs)
				shown := len(w.titles(own))
				if c.own == c.theirs && shown != len(c.own) {
					t.Errorf("its owner is shown %q", w.titles(own))
				}
				w.end()
				w.restart()
			}
			w.publish(mine(2, "secret", 2))
			w.shows(theirs, c.theirs)
			w.publish(public("P", 2, "edited", 2))
			w.publish(public("Q", 2, "edited", 2))
			w.shows(theirs, "edited")
			w.publish(retraction(mine(2, "secret", 2), 3))
			w.shows(theirs, "edited")
			w.publish(retraction(public("P", 2, "edited", 2), 3))
			w.publish(retraction(public("Q", 2, "edited", 2), 3))
			w.shows(theirs)
		})
	}
}

// TestWhatBecamePrivateIsShownNoMore: a feed of this peer loses its theme.
func TestWhatBecamePrivateIsShownNoMore(t *testing.T) {
	w := newWorld(t)
	own, theirs := w.subscribe(feedring.Query{}), w.adopt(1, feedring.Query{})
	w.publish(entry(self, "own.example", 1, titled("one")))
	w.shows(theirs, "one")
	before, _ := w.room.State(theirs.Secret)
	w.publish(entry(self, "own.example", 2, titled("two"), private))
	w.shows(own, "two one")
	w.shows(theirs)
	if after, _ := w.room.State(theirs.Secret); after.Version == before.Version {
		t.Error("a reader is not told that it is gone")
	}
}

func TestAdoptingIsIdempotentAndChangesWhatIsAsked(t *testing.T) {
	w := newWorld(t)
	w.publish(entry("P", "a.example", 1, titled("zero"))) // nobody subscribes yet
	s := w.adopt(1, feedring.Query{Theme: "news", Words: "gaz"})
	w.publish(entry("P", "a.example", 2, titled("gaz")))
	asked := w.network.asked
	for range 2 {
		if again := w.adopt(1, feedring.Query{Theme: "news", Words: "gaz"}); again != s || s.Created.Year() != 2099 || s.ID != "0000000000000001" {
			t.Errorf("%+v, then %+v", s, again)
		}
		w.shows(s, "gaz")
		if ids := slices.Collect(w.room.Adopted()); len(ids) != 1 || !w.room.Holds(s.ID) || len(w.listed()) != 0 {
			t.Errorf("%q is adopted", ids)
		}
		w.end()
		w.restart()
	}
	if w.network.asked != asked {
		t.Error("a list that is full is filled again")
	}
	w.network.answer = []feedring.Entry{entry("P", "a.example", 3, titled("sel"))}
	s = w.adopt(1, feedring.Query{Theme: "news", Words: "sel"})
	w.shows(s, "sel")
	if w.room.interests.Len() != 1 {
		t.Errorf("%d interests", w.room.interests.Len())
	}
	if own := w.subscribe(feedring.Query{Theme: "news"}); time.Until(own.Created) > time.Minute {
		t.Errorf("the clock of another peer made it %s", own.Created)
	}
}

func TestForgetDropsAdoptedFeedsAlone(t *testing.T) {
	w := newWorld(t)
	own := w.subscribe(feedring.Query{Theme: "news"})
	s, other := w.adopt(1, feedring.Query{Theme: "news"}), w.adopt(2, feedring.Query{Theme: "news"})
	if err := w.room.Unsubscribe(t.Context(), s.ID); !errors.Is(err, ErrUnknown) {
		t.Errorf("an adopted one was revoked by hand: %v", err)
	}
	check(t, w.room.Forget(t.Context(), s.ID, own.ID, "ffffffffffffffff", s.ID))
	for range 2 {
		if _, ok := w.room.State(s.Secret); ok || w.room.Holds(s.ID) || !w.room.Holds(other.ID) {
			t.Error("it is still there")
		}
		if all := w.listed(); len(all) != 1 || all[0].ID != own.ID {
			t.Errorf("%+v", all)
		}
		w.end()
		w.restart()
	}
}

func TestWhatCannotBeAdoptedIsPassedOver(t *testing.T) {
	w := newWorld(t)
	own := w.subscribe(feedring.Query{Theme: "news"})
	w.room.most = 3
	bad, mine, same, good, many := adopted(1, feedring.Query{Words: "(a"}), adopted(2, feedring.Query{}), adopted(3, feedring.Query{}), adopted(4, feedring.Query{}), adopted(6, feedring.Query{})
	mine.ID, same.Secret = own.ID, own.Secret
	err := w.room.Adopt(t.Context(), bad, mine, same, good, adopted(5, feedring.Query{}), many)
	if !errors.As(err, new(*match.SyntaxError)) || !errors.Is(err, ErrTaken) || !errors.Is(err, ErrTooMany) {
		t.Errorf("%v", err)
	}
	if ids := slices.Sorted(w.room.Adopted()); len(ids) != 2 || ids[0] != good.ID {
		t.Errorf("%q are adopted", ids)
	}
	w.shows(own)
	if err := w.room.Adopt(t.Context(), many); !errors.Is(err, ErrTooMany) {
		t.Errorf("beyond the bound: %v", err)
	}
	if err := w.room.Adopt(t.Context(), good); err != nil {
		t.Errorf("at the bound, one that is open: %v", err)
	}
}

// TestAnAdoptedFeedIsNotShownBeforeItWasFilled: a reader that comes meanwhile would take
// an empty list for the end of what it has. Over a restart, too.
func TestAnAdoptedFeedIsNotShownBeforeItWasFilled(t *testing.T) {
	w := newWorld(t)
	w.network.answer = []feedring.Entry{entry("P", "a.example", 1, titled("one"))}
	w.network.mu.Lock() // nobody is answered
	a := adopted(1, feedring.Query{Theme: "news"})
	check(t, w.room.Adopt(t.Context(), a))
	hidden := func() {
		t.Helper()
		if _, ok := w.room.State(a.Secret); ok {
			t.Error("it is shown before it was filled")
		}
		if _, err := w.room.Feed(t.Context(), a.Secret); !errors.Is(err, ErrUnknown) {
			t.Errorf("it is read before it was filled: %v", err)
		}
	}
	hidden()
	soon, cancel := context.WithCancel(t.Context())
	cancel()
	if w.room.Wait(soon, a.ID) || w.room.Wait(t.Context(), "ffffffffffffffff") {
		t.Error("it is said to be filled")
	}
	w.network.mu.Unlock()
	if !w.room.Wait(t.Context(), a.ID) {
		t.Fatal("it is not filled")
	}
	w.shows(Subscription{Secret: a.Secret}, "one")
}

// TestWhoWaitsComesBeforeWhatNobodyWaitsFor: many lists are filled in the background
// when one is asked for.
func TestWhoWaitsComesBeforeWhatNobodyWaitsFor(t *testing.T) {
	w := newWorld(t)
	w.stop() // the fills begin below
	const many = 60
	all := make([]Adopted, many)
	for i := range all {
		all[i] = adopted(i+1, feedring.Query{Theme: "news", Words: fmt.Sprint("w", i)})
	}
	ctx, cancel := context.WithCancel(t.Context())
	writing := make(chan struct{})
	go func() { defer close(writing); w.room.write(ctx) }()
	check(t, w.room.Adopt(ctx, all...))
	last := w.room.byID.Get(all[many-1].ID).interest
	w.room.fills <- last
	ended := make(chan struct{})
	w.network.order = make(chan string, 2*many)
	go func() { defer close(ended); w.room.fillAll(ctx) }()
	var order []string
	for len(order) < fillsAtOnce+2 {
		order = append(order, <-w.network.order)
	}
	cancel()
	<-ended
	<-writing
	if at := slices.Index(order, last.words); at < 0 || at > fillsAtOnce {
		t.Errorf("filled in the order %q", order)
	}
	w.stop = func() {}
}

func TestReadersOfAdoptedFeedsReadNoPrivateOnes(t *testing.T) {
	w := newWorld(t)
	w.subscribe(feedring.Query{})
	w.adopt(1, feedring.Query{})
	w.adopt(2, feedring.Query{Theme: "news"})
	w.adopt(3, feedring.Query{Provider: "lemonde"})
	for _, c := range []struct {
		theme feedring.Theme
		want  int
	}{{"", 1}, {"news", 4}, {"sport", 3}} {
		if n := w.room.Readers(c.theme, "lemonde.fr"); n != c.want {
			t.Errorf("%q: %d readers, not %d", c.theme, n, c.want)
		}
	}
}

// A list that is longer than a page comes by id, each once, without what was adopted. One that
// fits comes whole, the oldest first.
func TestSubscriptionsInPages(t *testing.T) {
	w := newWorld(t)
	made := map[string]bool{}
	const all = 21
	for i := range all {
		made[w.subscribe(feedring.Query{Words: fmt.Sprint("word", i)}).ID] = true
	}
	w.adopt(1, feedring.Query{Theme: "news", Words: "gaz"})
	for most := 1; most <= all+1; most++ {
		var ids []string
		for after, more := "", true; more; {
			page, next := w.room.Subscriptions(after, most)
			if len(page) > most || next != "" && next <= after {
				t.Fatalf("after %q: %d of at most %d, then %q", after, len(page), most, next)
			}
			if most >= all && !slices.IsSortedFunc(page, func(a, b Subscription) int { return a.Created.Compare(b.Created) }) {
				t.Errorf("at most %d: the oldest is not first", most)
			}
			for _, s := range page {
				if !made[s.ID] {
					t.Errorf("%q was not subscribed to", s.ID)
				}
				ids = append(ids, s.ID)
			}
			after, more = next, next != ""
		}
		if most < all && !slices.IsSorted(ids) {
			t.Errorf("at most %d: they are not in order: %q", most, ids)
		}
		if slices.Sort(ids); len(ids) != all || len(slices.Compact(ids)) != all {
			t.Errorf("at most %d: %q", most, ids)
		}
	}
}
