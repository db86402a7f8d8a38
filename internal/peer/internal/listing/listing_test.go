package listing

import (
	"slices"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/ring"
)

func TestSuggestNamesTheNearestThemeAndProvider(t *testing.T) {
	rows := []*ring.Row{{Theme: "news"}, {Theme: "sport"}}
	row := &group.Row{Feeds: []feedring.Feed{
		{URL: "https://www.lemonde.fr/rss", Provider: "lemonde.fr"}, {URL: "https://feeds.bbc.co.uk/news", Provider: "bbc.co.uk"},
		{URL: "https://blog.example/feed", Provider: "lemonda.fr"}, // its host does not bear that out
	}}
	v := &group.View{Members: []group.Member{{Row: row}}}
	for _, c := range []struct {
		theme    feedring.Theme
		provider string
		want     []string
	}{
		{"newz", "", []string{"news"}},
		{"news", "lemonde.f", []string{"lemonde.fr"}},
		{"newz", "lemonde.f", []string{"news", "lemonde.fr"}},
		{"news", "lemonde.fr", nil}, // both are there
		{"xxxxxxxxxxxx", "", nil},
	} {
		if got := Suggest(c.theme, c.provider, rows, []*group.View{v}); !slices.Equal(got, c.want) {
			t.Errorf("%q at %q: %q is suggested, not %q", c.provider, c.theme, got, c.want)
		}
	}
}
