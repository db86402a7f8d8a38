package fetch

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// What the first fetch finds is history if it is dated before the feed was offered,
// or not at all; what later fetches find is news.
func TestHistory(t *testing.T) {
	doc := items(t, [4]string{"4", "", "undated", ""}, [4]string{"3", "", "later", "09"}, [4]string{"2", "", "same second", "08"}, [4]string{"1", "", "before", "07"})
	offered := time.Date(2026, 1, 8, 0, 0, 0, 900, time.UTC)
	lastLook := time.Date(2026, 1, 7, 0, 0, 0, 0, time.UTC)
	const no, older, undated = feedring.NoHistory, feedring.OlderHistory, feedring.UndatedHistory
	for _, c := range []struct {
		what  string
		state State
		want  [4]feedring.History // undated, later, same second, before
	}{
		{"the first look", State{Offered: offered}, [4]feedring.History{undated, no, no, older}},
		{"after a look that failed", State{Offered: offered, LastFetch: lastLook, Failures: 1}, [4]feedring.History{undated, no, no, older}},
		{"after a look of another peer of the group", State{Offered: offered, LastFetch: lastLook}, [4]feedring.History{undated, no, no, no}},
		{"nobody knows since when it is offered", State{}, [4]feedring.History{no, no, no, no}},
		{"a later look", State{Offered: offered, LastFetch: lastLook, LastSuccess: lastLook}, [4]feedring.History{no, no, no, no}},
	} {
		c.state.URL = "u"
		found, next := Diff(c.state, doc, start)
		got := make(map[string]feedring.History)
		for _, e := range found {
			got[e.Title] = e.History
		}
		for i, title := range []string{"undated", "later", "same second", "before"} {
			if h, ok := got[title]; !ok || h != c.want[i] {
				t.Errorf("%s: %q is %v (%v), want %v", c.what, title, h, ok, c.want[i])
			}
		}
		if next.Offered != c.state.Offered {
			t.Errorf("%s: since when it is offered is forgotten", c.what)
		}
	}
}
