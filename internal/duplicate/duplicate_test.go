package duplicate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// told is an entry of a feed of its own, n seconds old.
func told(title, provider, link string, n int, text string) feedring.Entry {
	return feedring.Entry{
		ID: feedring.EntryID(title), Feed: "https://" + provider + "/feed", Provider: feedring.Provider(provider), Theme: "news",
		Title: title, URL: link, Summary: text, Publisher: feedring.PeerID("peer of " + provider),
		Published: time.Unix(1_700_000_000-int64(n), 0),
	}
}

func titlesOf(entries []feedring.Entry) (titles []string) {
	for i := range entries {
		titles = append(titles, entries[i].Title)
	}
	return titles
}

func TestFoldShowsAStoryOnce(t *testing.T) {
	const page = "https://a.example/story"
	long := "twelve words and more make a text that no two sites write by chance alone"
	vouched := told("own", "a.example", page+"?utm_source=feed", 3, "")
	vouched.VouchedBy = "a.example"
	withText := told("own", "a.example", page, 3, long)
	withText.VouchedBy = "a.example"
	for name, test := range map[string]struct {
		entries []feedring.Entry
		want    []string
	}{
		"the first that links it": {
			[]feedring.Entry{told("later", "c.example", page+"/", 1, ""), told("first", "b.example", "http://www.a.example/story", 2, "")},
			[]string{"first"},
		},
		"the site's own, though later": {
			[]feedring.Entry{vouched, told("copied", "b.example", page, 4, ""), told("other", "b.example", "https://b.example/2", 5, "")},
			[]string{"own", "other"},
		},
		"the site's own, though earlier": {
			[]feedring.Entry{told("copied", "b.example", page, 1, ""), vouched}, []string{"own"},
		},
		"one text": {
			[]feedring.Entry{told("same", "c.example", "https://c.example/1", 1, long), told("same", "b.example", "https://b.example/1", 2, long)},
			[]string{"same"},
		},
		"the site's own text, though somebody dated a copy earlier": {
			[]feedring.Entry{withText, told("own", "evil", "https://evil.example/1", 9, long)}, []string{"own"},
		},
		"short texts and front pages are no story": {
			[]feedring.Entry{told("sunny", "c.example", "https://c.example/", 1, "sunny"), told("sunny", "b.example", "https://c.example/", 2, "sunny")},
			[]string{"sunny", "sunny"},
		},
		"one feed may repeat itself": {
			[]feedring.Entry{told("again", "b.example", page, 1, ""), told("once", "b.example", page, 2, "")}, []string{"again", "once"},
		},
		"no entry": {nil, nil},
	} {
		before := titlesOf(test.entries)
		if got := titlesOf(Fold(test.entries, nil)); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		for _, e := range Fold(test.entries, nil) {
			if strings.Contains(e.URL, "evil") {
				t.Errorf("%s: the copy is shown", name)
			}
		}
		if !slices.Equal(titlesOf(test.entries), before) {
			t.Errorf("%s: the argument was changed", name)
		}
	}
}

// What one is asked for site decides who may speak for a page.
func TestFoldAsksWhoStandsBehindAFeed(t *testing.T) {
	const page = "https://a.example/story"
	entries := []feedring.Entry{told("read here", "a.example:80", page, 1, ""), told("copied", "a.example", page, 2, "")}
	own := func(e *feedring.Entry) string {
		if e.Title == "read here" {
			return "a.example"
		}
		return ""
	}
	if got := titlesOf(Fold(entries, own)); fmt.Sprint(got) != "[read here]" {
		t.Errorf("%q", got)
	}
}
