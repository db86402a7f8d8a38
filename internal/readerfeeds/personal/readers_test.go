package personal

import (
	"testing"

	"github.com/feedring/feedring"
)

// TestReaders counts the personal feeds that read a feed, over a restart.
func TestReaders(t *testing.T) {
	w := newWorld(t)
	for _, q := range []feedring.Query{
		{}, {Theme: "news"}, {Theme: "sport"}, {Provider: "lemonde"}, {Theme: "news", Provider: "lemonde.fr", Words: "europe"},
		{Theme: "news", Words: "europe"}, {Words: "europe"}, {Provider: "monde"},
	} {
		w.subscribe(q)
	}
	gone := w.subscribe(feedring.Query{Theme: "news"})
	check(t, w.room.Unsubscribe(t.Context(), gone.ID))
	for range 2 {
		for _, c := range []struct {
			theme    feedring.Theme
			provider feedring.Provider
			want     int
		}{
			{"news", "lemonde.fr", 4}, {"news", "Feeds.LeMonde.fr", 4}, {"news", "other.example", 2}, {"sport", "lemonde.fr", 3}, {"weather", "other.example", 1},
			{"", "lemonde.fr", 2}, {"news", "", 2},
		} {
			if n := w.room.Readers(c.theme, c.provider); n != c.want {
				t.Errorf("%s %s: %d readers, want %d", c.theme, c.provider, n, c.want)
			}
		}
		w.end()
		w.restart()
	}
}
