package personal

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// old is history of so long ago.
func old(days int) func(*feedring.Entry) {
	return func(e *feedring.Entry) {
		e.History, e.Published = feedring.OlderHistory, e.Published.AddDate(0, 0, -days)
		e.Title = fmt.Sprintf("-%d", days)
	}
}

func dated(days int) func(*feedring.Entry) {
	return func(e *feedring.Entry) { e.Published = e.Published.AddDate(0, 0, -days) }
}

// History goes below what is newer, takes places of what is older and nobody waits
// for, and no place of news, whatever its date. It is so after a kill, too.
func TestHistoryTakesItsPlaceByDate(t *testing.T) {
	w := newWorld(t)
	w.network.answer = []feedring.Entry{entry("P", "a.example", 1, titled("found"), dated(5))}
	s := w.subscribe(feedring.Query{Theme: "news", Limit: 6})
	w.shows(s, "found")
	w.room.Watch(s.Secret, true)
	w.publish(entry("P", "a.example", 2, titled("news")))
	w.publish(entry("P", "a.example", 3, titled("late-news"), dated(1000)))
	if len(w.told) != 2 {
		t.Errorf("of two news %d were told", len(w.told))
	}
	for n, days := range []int{3, 7, 4000} {
		w.publish(entry("P", "b.example", n+1, old(days)))
	}
	w.publish(entry("P", "b.example", 4, titled("undated"), func(e *feedring.Entry) { e.History = feedring.UndatedHistory }))
	w.shows(s, "late-news news -3 found -7 -4000")
	for n, days := range []int{1, 6, 2, 9} {
		w.publish(entry("P", "c.example", n+1, old(days)))
	}
	want := "late-news news -1 -2 -3 found"
	w.shows(s, want)
	if len(w.told) != 2 {
		t.Error("history was told as something new")
	}
	before, _ := w.room.State(s.Secret)
	w.flushed()
	w.kill()
	w.restart()
	w.shows(s, want)
	if after, _ := w.room.State(s.Secret); after.Version != before.Version {
		t.Error("it is another one after a restart")
	}
	for n := range 4 {
		w.publish(entry("P", "d.example", n+1, titled(fmt.Sprint("n", n))))
	}
	w.shows(s, "n3 n2 n1 n0 late-news news")
}

// What is dated after a list was filled is news to it, whatever its publisher says.
func TestListHearsWhatIsDatedSince(t *testing.T) {
	w := newWorld(t)
	s := w.subscribe(feedring.Query{Theme: "news", Limit: 3})
	w.publish(entry("P", "a.example", 1, titled("a")))
	w.publish(entry("P", "b.example", 1, titled("b"), func(e *feedring.Entry) {
		e.History, e.Published = feedring.OlderHistory, e.Published.Add(time.Second)
	}))
	in := w.room.bySecret.Get(keyOfSecret(s.Secret)).interest
	if got := w.titles(s); got != "b a" {
		t.Errorf("shows %q", got)
	}
	if len(in.items) != 2 || w.room.table.all[in.items[1]].news == 0 {
		t.Error("it was given as history")
	}
}
