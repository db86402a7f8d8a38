package personal

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// What was given is told for each list, with the time at which it was here. Private
// entries are not told: metrics ask for no token.
func TestGivenEntriesAreTold(t *testing.T) {
	w := newWorld(t)
	for range 2 { // the same question twice is one interest
		w.subscribe(feedring.Query{Words: "gas"})
	}
	w.subscribe(feedring.Query{Theme: "news", Words: "gas"})
	if n := w.room.Interests(); n != 2 {
		t.Errorf("%d interests", n)
	}
	since := time.Now().Add(-time.Hour)
	give := func(n int, change ...func(*feedring.Entry)) {
		e := entry("P", "a.example", n, change...)
		w.keep(e)
		check(t, w.room.Stored(t.Context(), e.Ref(), since))
	}
	give(1, titled("gas"))
	give(2, titled("oil"))
	if w.given != 2 || !w.since.Equal(since) {
		t.Errorf("%d lists, since %v", w.given, w.since)
	}
	own := entry(self, "b.example", 1, titled("gas"), private)
	w.keep(own)
	check(t, w.room.Stored(t.Context(), own.Ref(), since))
	if w.given != 2 {
		t.Errorf("a private entry was told")
	}
	if n := w.room.listed; n != 3 {
		t.Errorf("%d places on lists", n)
	}
}
