package personal

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// A list that is shortened keeps what came since its reader polled, and ten entries at
// least; one whose reader is not known yet stays whole.
func TestAShortenedListKeepsWhatItsReaderHasNotSeen(t *testing.T) {
	w := newWorld(t)
	a, b := w.subscribe(feedring.Query{Theme: "news", Limit: 50}), w.subscribe(feedring.Query{Theme: "news", Limit: 40})
	var newest []string
	for n := range 30 {
		w.publish(entry("P", "a.example", n+1, titled(fmt.Sprint("e", n))))
		newest = append(newest, fmt.Sprint("e", n))
	}
	slices.Reverse(newest)
	is := func(s Subscription, entries int) {
		t.Helper()
		if got, want := w.titles(s), strings.Join(newest[:entries], " "); got != want {
			t.Errorf("shows %q, not %q", got, want)
		}
	}
	list := func(s Subscription) *interest { return w.room.bySecret.Get(keyOfSecret(s.Secret)).interest }
	now := time.Now()
	for i, s := range list(a).items { // the first 15 came an hour ago
		w.room.table.all[s].news = now.Add(-time.Duration(29-i) / 15 * time.Hour).Unix()
	}
	if n := w.room.Shorten(now); n != 0 {
		t.Errorf("%d entries are taken off lists that nobody has polled", n)
	}
	list(a).poll(now.Add(-time.Minute).Unix())
	if n := w.room.Shorten(now); n != 15 {
		t.Errorf("%d entries are taken off", n)
	}
	is(a, 15)
	is(b, 30)
	w.room.State(b.Secret) // as who polls
	list(a).poll(now.Add(time.Minute).Unix())
	list(b).poll(now.Add(time.Minute).Unix())
	if n := w.room.Shorten(now); n != 5+20 {
		t.Errorf("%d entries are taken off", n)
	}
	is(a, shortest)
	is(b, shortest)
	if n := w.room.Shorten(now); n != 0 || w.room.listed != 2*shortest {
		t.Errorf("%d entries are taken off once more, %d are listed", n, w.room.listed)
	}
	w.publish(entry("P", "a.example", 31, titled("new")))
	newest = slices.Insert(newest, 0, "new")
	is(a, shortest+1)
	w.flushed()
	w.end()
	w.restart()
	is(a, shortest+1)

	if list(a).polled.Store(0); w.room.Shorten(now) != 0 {
		t.Error("after a restart readers are taken to have polled")
	}
	w.room.began = now.Add(-unpolled) // who polls comes within a day
	for _, s := range list(a).items {
		w.room.table.all[s].news = now.Add(-2 * unpolled).Unix()
	}
	if n := w.room.Shorten(now); n != 2 {
		t.Errorf("%d entries are taken off lists that nobody polls, not one of each", n)
	}
}
