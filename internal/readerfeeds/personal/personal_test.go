package personal

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/readerfeeds/personal/rows"
	"github.com/feedring/feedring/internal/store"
)

func TestEntriesGoToMatchingFeeds(t *testing.T) {
	w := newWorld(t)
	all := w.subscribe(feedring.Query{Theme: "news"})
	some := w.subscribe(feedring.Query{Words: "gaz NOT sport", Limit: 2})
	foreign := w.subscribe(feedring.Query{Theme: "sport"})
	w.publish(entry("P", "a.example", 1, titled("gaz")))
	w.publish(entry("P", "a.example", 2, titled("sport")))
	w.publish(entry(self, "b.example", 1, titled("le-gaz")))
	w.publish(entry("P", "a.example", 3, titled("du-Gaz")))
	w.shows(all, "du-Gaz le-gaz sport gaz")
	w.shows(some, "du-Gaz le-gaz")
	w.shows(foreign)
	if _, err := w.room.Subscribe(t.Context(), feedring.Query{Words: "(a"}, false); !errors.As(err, new(*match.SyntaxError)) {
		t.Errorf("a bad query: %v", err)
	}
}

// TestNewVersion: a new version is shown where the old one stood, and changes
// what the feed says of itself.
func TestNewVersion(t *testing.T) {
	w := newWorld(t)
	s := w.subscribe(feedring.Query{Theme: "news"})
	for _, publisher := range []feedring.PeerID{self, "P"} {
		site := strings.ToLower(string(publisher)) + ".example"
		w.publish(entry(publisher, site, 1, titled("one")))
		w.publish(entry(publisher, site, 2, titled("two")))
		before, _ := w.room.State(s.Secret)
		again := entry(publisher, site, 1, titled("one!"), func(e *feedring.Entry) { e.Version, e.Position.Sequence = 2, 3 })
		w.publish(again)
		if got := w.titles(s); !strings.HasPrefix(got, "two one!") {
			t.Errorf("shows %s", got)
		}
		if after, _ := w.room.State(s.Secret); after.Version == before.Version {
			t.Error("the new version is not told")
		}
	}
	w.flushed()
	before, _ := w.room.State(s.Secret)
	w.kill()
	w.restart()
	w.shows(s, "two one! two one!")
	if after, _ := w.room.State(s.Secret); after.Version != before.Version || !after.Modified.Equal(before.Modified) {
		t.Errorf("%+v before the restart, %+v after", before, after)
	}
}

// TestFill: the list begins with what there is, below what came meanwhile.
func TestFill(t *testing.T) {
	w := newWorld(t)
	for n := 5; n > 0; n-- {
		w.network.answer = append(w.network.answer, entry("P", "a.example", n))
	}
	w.keep(entry("P", "a.example", 5)) // stored before anybody subscribed
	s := w.subscribe(feedring.Query{Theme: "news", Limit: 4})
	w.shows(s, 5, 4, 3, 2)
	w.lookAtAll()
	w.publish(entry("P", "a.example", 6))
	w.shows(s, 6, 5, 4, 3)
	other := w.subscribe(feedring.Query{Theme: "news"})
	w.shows(other, 5, 4, 3, 2, 1)
	again := w.subscribe(feedring.Query{Theme: "news", Limit: 4})
	if w.network.asked != 2 || again.Secret == s.Secret {
		t.Errorf("%d queries for two interests", w.network.asked)
	}
	w.kill()
	w.restart()
	w.shows(again, 6, 5, 4, 3)
}

// TestFillLate: while nobody answers the feed is there and empty, or holds what
// came live, and is filled below that when somebody does.
func TestFillLate(t *testing.T) {
	w := newWorld(t)
	w.network.mu.Lock()
	w.network.broken = true
	w.network.mu.Unlock()
	s := w.subscribe(feedring.Query{Theme: "news"})
	w.publish(entry("P", "a.example", 9))
	w.shows(s, 9)
	w.network.mu.Lock()
	w.network.broken, w.network.answer = false, []feedring.Entry{entry("P", "a.example", 9), entry("P", "a.example", 8)}
	w.network.mu.Unlock()
	w.room.fills <- w.room.interests.Get(newInterest(s.Query, nil, false, false).key)
	eventually(t, "the rest", func() bool { return strings.Contains(w.titles(s), "8") })
	want := w.titles(s)
	w.flushed()
	w.kill()
	w.restart()
	w.shows(s, want)
}

// TestOldIsNotNew: what a publisher saw long before the subscription is not
// given when a peer comes to hold it.
func TestOldIsNotNew(t *testing.T) {
	w := newWorld(t)
	s := w.subscribe(feedring.Query{Theme: "news"})
	w.publish(entry("P", "a.example", 1))
	w.publish(entry("Q", "b.example", 3, func(e *feedring.Entry) { e.Seen = time.Now().Add(-time.Hour) }))
	w.publish(entry("P", "a.example", 2))
	w.shows(s, 2, 1)
}

// TestClockAhead: a peer whose clock is an hour ahead of publishers' gives what comes after it
// filled a list. What came sooner than in an hour shows that it is not ahead.
func TestClockAhead(t *testing.T) {
	w := newWorld(t)
	ago := func(d time.Duration) func(*feedring.Entry) {
		return func(e *feedring.Entry) { e.Seen = time.Now().Add(-d) }
	}
	w.network.answer = []feedring.Entry{entry("P", "a.example", 1, ago(time.Hour+time.Minute))}
	w.keep(entry("P", "a.example", 1, ago(time.Hour+time.Minute)))
	s := w.subscribe(feedring.Query{Theme: "news"})
	w.publish(entry(self, "c.example", 5)) // by the same clock, which shows nothing
	w.publish(entry("P", "a.example", 2, ago(time.Hour)))
	w.publish(entry("Q", "b.example", 3, ago(2*time.Hour)))
	w.shows(s, 2, 5, 1)
	w.publish(entry("P", "a.example", 4))
	w.publish(entry("Q", "b.example", 6, ago(time.Hour)))
	w.shows(s, 4, 2, 5, 1)
	for in := range w.room.interests.All() { // by a clock that was set right since
		in.filled = time.Now().Add(time.Hour).Unix()
	}
	w.publish(entry("P", "a.example", 7))
	w.shows(s, 7, 4, 2, 5, 1)
}

// TestFollow: a theme that the store does not get is followed once, resumed
// after a restart, and let go with the last who wants it. Its entries are kept.
func TestFollow(t *testing.T) {
	w := newWorld(t)
	sport := func(n int) feedring.Entry {
		return entry("P", "s.example", n, func(e *feedring.Entry) { e.Theme = "sport" })
	}
	s := w.subscribe(feedring.Query{Theme: "sport"})
	other := w.subscribe(feedring.Query{Theme: "sport", Provider: "s.example"})
	eventually(t, "followed", func() bool { return w.network.followed("sport") != nil })
	w.network.followed("sport") <- sport(1)
	w.network.followed("sport") <- sport(2)
	eventually(t, "shown", func() bool { return w.titles(s) == "2 1" && w.titles(other) == "2 1" })
	w.flushed()
	w.kill()
	w.restart()
	eventually(t, "followed again", func() bool { return w.network.followed("sport") != nil })
	second := sport(2)
	if at := w.network.resumed["sport"][second.Ref()]; at != second.Position {
		t.Errorf("resumed at %v", at)
	}
	w.network.followed("sport") <- sport(2) // a provider that repeats itself
	w.network.followed("sport") <- sport(3)
	eventually(t, "the third", func() bool { return w.titles(s) == "3 2 1" })
	check(t, w.room.Unsubscribe(t.Context(), s.ID))
	if w.network.followed("sport") == nil {
		t.Error("let go while somebody wants it")
	}
	check(t, w.room.Unsubscribe(t.Context(), other.ID))
	eventually(t, "let go", func() bool { return w.network.followed("sport") == nil })
	w.network.mu.Lock()
	w.network.resumed = make(map[feedring.Theme]feedring.Cursor)
	w.network.mu.Unlock()
	all := w.subscribe(feedring.Query{Words: "NOT news"}) // every group that is known, but those of the store
	eventually(t, "all followed", func() bool { return w.network.followed("sport") != nil && w.network.followed("weather") != nil })
	if w.network.followed("news") != nil || w.network.followed("") != nil {
		t.Error("what the store gets is followed")
	}
	w.network.followed("weather") <- entry("P", "w.example", 1, titled("rain"), func(e *feedring.Entry) { e.Theme = "weather" })
	eventually(t, "rain", func() bool { return w.titles(all) == "rain" })
	check(t, w.room.Unsubscribe(t.Context(), all.ID))
	if err := w.room.Unsubscribe(t.Context(), other.ID); !errors.Is(err, ErrUnknown) {
		t.Errorf("again: %v", err)
	}
	w.flushed()
	for record, err := range w.store.ListPrefix(store.BucketSubscription, rows.Prefix) {
		check(t, err)
		if !strings.HasPrefix(record.Key, rows.Feeds) && !strings.HasPrefix(record.Key, rows.Journal) {
			t.Errorf("left on disk: %q", record.Key)
		}
	}
}

// TestPrivate: a private feed is shown to those who ask for every theme, until
// it is removed.
func TestPrivate(t *testing.T) {
	w := newWorld(t)
	s, news := w.subscribe(feedring.Query{}), w.subscribe(feedring.Query{Theme: "news"})
	private := entry(self, "own.example", 1, titled("own"), func(e *feedring.Entry) { e.Theme = "" })
	w.publish(private)
	w.publish(entry("P", "a.example", 1, titled("public")))
	w.shows(s, "public own")
	w.shows(news, "public")
	w.gone[private.Feed] = true
	w.room.Withdraw(private.Feed)
	w.shows(s, "public")
	w.publish(entry(self, "own.example", 2, func(e *feedring.Entry) { e.Theme = "" }))
	w.shows(s, "public")
	w.flushed()
	w.kill()
	w.restart()
	w.shows(s, "public")
}

// TestErasedFeed: what one peer published of a feed leaves the lists and the disk, and
// what another published stays.
func TestErasedFeed(t *testing.T) {
	w := newWorld(t)
	s := w.subscribe(feedring.Query{})
	mirrored := entry("M", "a.example", 1, titled("mirrored"))
	w.publish(mirrored)
	w.publish(entry("P", "b.example", 1, titled("other")))
	w.shows(s, "other mirrored")
	w.room.EraseFeed(mirrored.Ref())
	w.room.EraseFeed(feedring.FeedRef{URL: "https://none.example/", Publisher: "M"})
	w.shows(s, "other")
	w.flushed()
	copies := 0
	for record, err := range w.store.ListPrefix(store.BucketSubscription, rows.Prefix) {
		check(t, err)
		if strings.Contains(string(record.Value), "mirrored") {
			t.Errorf("left on disk: %q", record.Key)
		}
		copies++
	}
	if copies == 0 {
		t.Error("nothing is on disk")
	}
	w.kill()
	w.restart()
	w.shows(s, "other")
}

// TestPrivateReturns: a private feed that was removed and is added again is shown
// at once as after a restart, and not while it is removed.
func TestPrivateReturns(t *testing.T) {
	w := newWorld(t)
	private := entry(self, "own.example", 1, titled("own"), func(e *feedring.Entry) { e.Theme = "" })
	public := entry("P", "a.example", 1, titled("public"))
	s := w.subscribe(feedring.Query{})
	w.publish(private)
	w.publish(public)
	w.shows(s, "public own")
	w.gone[private.Feed] = true
	w.room.Withdraw(private.Feed)
	w.network.mu.Lock()
	w.network.answer = []feedring.Entry{private, public}
	w.network.mu.Unlock()
	late := w.subscribe(feedring.Query{Limit: 3}) // whose answer is from before the end
	w.shows(late, "public")
	w.gone[private.Feed] = false
	w.room.Restore()
	for _, feed := range []Subscription{s, late} {
		eventually(t, "the feed again", func() bool { return w.titles(feed) == "own public" })
	}
	before, _ := w.room.State(s.Secret)
	w.flushed()
	w.kill()
	w.restart()
	w.shows(s, "own public")
	w.shows(late, "own public")
	if after, _ := w.room.State(s.Secret); after.Version != before.Version {
		t.Error("it is another one after a restart")
	}
}

// TestShorten: where copies take too much room the oldest lose their content,
// not their place.
func TestShorten(t *testing.T) {
	w := newWorld(t)
	s := w.subscribe(feedring.Query{Theme: "news"})
	for n := range 10 {
		w.publish(entry("P", "a.example", n+1, func(e *feedring.Entry) { e.ContentHTML = strings.Repeat("x", 10_000) }))
	}
	w.flushed()
	before, _ := w.room.State(s.Secret)
	w.room.changing.Lock()
	w.room.bodies = 50_000
	w.room.changing.Unlock()
	w.room.shorten(t.Context())
	w.flushed()
	w.kill()
	w.restart()
	f, err := w.room.Feed(t.Context(), s.Secret)
	check(t, err)
	if len(f.Entries) != 10 || f.Entries[0].ContentHTML == "" || f.Entries[9].ContentHTML != "" || f.Version == before.Version {
		t.Errorf("%d entries: %d bytes, %d bytes", len(f.Entries), len(f.Entries[0].ContentHTML), len(f.Entries[9].ContentHTML))
	}
	if w.room.table.bodies > 50_000 {
		t.Errorf("%d bytes are left", w.room.table.bodies)
	}
}

// TestFullDisk: while the disk takes nothing entries come all the same, after
// some megabytes without their content, and when there is room again what came
// meanwhile comes once more, for nothing of it was kept.
func TestFullDisk(t *testing.T) {
	const entries, each = 60, 200 << 10
	w := newWorld(t)
	s := w.subscribe(feedring.Query{Theme: "sport"})
	eventually(t, "a follow", func() bool { return w.network.followed("sport") != nil })
	publish := func(n int) {
		w.network.followed("sport") <- entry("P", "a.example", n, func(e *feedring.Entry) { e.Theme, e.ContentHTML = "sport", strings.Repeat("x", each) })
	}
	shown := func(first string) (f Feed) {
		t.Helper()
		eventually(t, first, func() (is bool) {
			var err error
			f, err = w.room.Feed(t.Context(), s.Secret)
			check(t, err)
			return len(f.Entries) > 0 && f.Entries[0].Title == first
		})
		return f
	}
	publish(1)
	shown("1")
	w.flushed()
	w.end()
	w.reserve = 1 << 60
	w.start()
	eventually(t, "a follow", func() bool { return w.network.followed("sport") != nil })
	for n := range entries {
		publish(n + 2)
	}
	f := shown(fmt.Sprint(entries + 1))
	if len(f.Entries) != feedring.DefaultLimit || f.Entries[0].ContentHTML != "" || !f.Entries[0].Truncated {
		t.Errorf("%d entries, the newest with %d bytes", len(f.Entries), len(f.Entries[0].ContentHTML))
	}
	if waiting := w.room.writing.size(); waiting > plentyPending+1<<20 {
		t.Errorf("%d bytes wait for the disk", waiting)
	}
	w.kill()
	w.reserve = -1
	w.start()
	w.shows(s, "1")
	eventually(t, "a follow", func() bool { return w.network.followed("sport") != nil })
	w.network.mu.Lock()
	at := w.network.resumed["sport"][f.Entries[0].Ref()]
	w.network.mu.Unlock()
	if at.Sequence != 1 {
		t.Errorf("it follows on from %v", at)
	}
	publish(2)
	if f := shown("2"); f.Entries[0].ContentHTML == "" {
		t.Error("there is room, and the content is gone")
	}
}

// TestReadWhileGiven reads while entries come: what is read is always a list
// that was, and says of itself which.
func TestReadWhileGiven(t *testing.T) {
	w := newWorld(t)
	s := w.subscribe(feedring.Query{Theme: "news", Limit: 10})
	ctx, stop := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	for range 3 {
		reading.Go(func() {
			for ctx.Err() == nil {
				f, err := w.room.Feed(context.Background(), s.Secret)
				if err != nil {
					t.Error(err)
					return
				}
				above := make(map[feedring.Provider]int)
				for i := range f.Entries {
					n, err := strconv.Atoi(f.Entries[i].Title)
					site := f.Entries[i].Provider
					if err != nil || above[site] != 0 && n != above[site]-1 {
						t.Errorf("%d of %s stands below %d", n, site, above[site])
					}
					above[site] = n
				}
				_, _ = w.room.State(s.Secret)
				w.listed()
			}
		})
	}
	var giving sync.WaitGroup
	for _, site := range []string{"a.example", "b.example"} {
		giving.Go(func() {
			for n := range 50 {
				w.publish(entry("P", site, n+1))
			}
		})
	}
	for range 5 {
		giving.Go(func() {
			mine := w.subscribe(feedring.Query{Theme: "news", Words: "50"})
			check(t, w.room.Unsubscribe(context.Background(), mine.ID))
		})
	}
	giving.Wait()
	stop()
	reading.Wait()
	if got := strings.Fields(w.titles(s)); len(got) != 10 {
		t.Errorf("%d entries", len(got))
	}
}

func TestSecrets(t *testing.T) {
	w := newWorld(t)
	a, b := w.subscribe(feedring.Query{Theme: "news"}), w.subscribe(feedring.Query{Theme: "news"})
	if a.Secret == b.Secret || a.ID == b.ID || len(a.Secret) < 22 || strings.Contains(a.Secret, a.ID) {
		t.Errorf("%+v, %+v", a, b)
	}
	for _, wrong := range []string{"", a.ID, a.Secret[:len(a.Secret)-1], a.Secret + "x"} {
		if _, ok := w.room.State(wrong); ok {
			t.Errorf("%q opens a feed", wrong)
		}
	}
	check(t, w.room.Unsubscribe(t.Context(), a.ID))
	if _, err := w.room.Feed(t.Context(), a.Secret); !errors.Is(err, ErrUnknown) {
		t.Errorf("revoked: %v", err)
	}
	w.shows(b)
}
