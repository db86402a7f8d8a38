package delivery

import (
	"context"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
)

// named is sites that name the publishers of some feeds.
type named map[feedring.FeedRef]string

func (n named) Vouched(_ feedring.Theme, ref feedring.FeedRef) string { return n[ref] }

// TestCopiesTakeNoPlace: a squatter signs, dated later, all that a site published. Readers are
// shown the site's entries, and as many as they ask for.
func TestCopiesTakeNoPlace(t *testing.T) {
	const entries = 60
	squatter := feedring.FeedRef{URL: testRef.URL, Publisher: "squatter"}
	for name, c := range map[string]struct {
		sites named
		want  int // shown of the site
	}{
		"the site names its publisher":          {named{testRef: "example.org"}, 20},
		"both are named":                        {named{testRef: "example.org", squatter: "example.org"}, 0},
		"another site names it":                 {named{testRef: "example.net"}, 0},
		"nobody is named, the newest are shown": {named{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t)
			broker := New("", s, s)
			broker.Prefer(c.sites)
			newLog(s, testRef).append(t, 1, entries)
			squats := newLog(s, squatter).items(1, entries)
			for i := range squats {
				squats[i].Published = squats[i].Published.Add(time.Hour)
			}
			check(t, s.Append(t.Context(), squats))
			out := &shownItems{}
			want := wanting(t, "")
			want.Limit = 20
			check(t, broker.Serve(t.Context(), Reader{Want: want, Out: out}))
			shown := 0
			for i := range out.items {
				if out.items[i].Ref == testRef {
					shown++
				}
			}
			if len(out.items) != want.Limit || shown != c.want {
				t.Errorf("%d entries, %d of them the site's, want %d of %d", len(out.items), shown, c.want, want.Limit)
			}
		})
	}
}

// TestSearchBehindCopiesEnds: copies without end cost a bounded number of pages.
func TestSearchBehindCopiesEnds(t *testing.T) {
	s := openStore(t)
	broker := New("", s, s)
	broker.Prefer(named{testRef: "example.org"})
	newLog(s, testRef).append(t, 1, 1)
	squat := newLog(s, feedring.FeedRef{URL: testRef.URL, Publisher: "squatter"}).items(1, 1)[0]
	pages := 0
	items, err := broker.newest(t.Context(), store.Search{Limit: 1}, func(context.Context, store.Search) ([]store.Item, store.Cursor, error) {
		pages++
		return []store.Item{squat}, "more", nil
	})
	check(t, err)
	if len(items) > 0 || pages != mostPages {
		t.Errorf("%d entries after %d pages", len(items), pages)
	}
}
