package delivery

import (
	"context"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store"
)

// named is sites that name the publishers of some feeds.
type named map[feedring.FeedRef]string

func (n named) Vouched(_ feedring.Theme, ref feedring.FeedRef) string { return n[ref] }

// SiteCopies takes a site that ends with a question mark for one that others tell of.
func (n named) SiteCopies(_ feedring.Theme, ref feedring.FeedRef) bool {
	return n[ref] != "" && feedring.OfSite(ref.URL, n[ref])
}

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
		"others say so":                         {named{testRef: "example.org?"}, 0},
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

// TestCopiesThatStandAlone: a mirror's copies are shown where the search does not find the
// site's, for any reason.
func TestCopiesThatStandAlone(t *testing.T) {
	mirrored := feedring.FeedRef{URL: testRef.URL, Publisher: "mirror"}
	for name, c := range map[string]struct {
		change func(site, mirror *store.Item)
		want   func(*Interest)
		shown  int
	}{
		"both fit":             {nil, nil, 1},
		"under another name":   {func(_, mirror *store.Item) { mirror.Provider = "label" }, func(w *Interest) { w.Provider = "label" }, 1},
		"in another theme":     {func(site, _ *store.Item) { site.Theme = "france" }, nil, 1},
		"with words of theirs": {func(_, mirror *store.Item) { mirror.Text = match.TextOf(&feedring.Entry{Title: "longer"}) }, func(w *Interest) { w.Words = wanting(t, "longer").Words }, 1},
		"of one publisher":     {nil, func(w *Interest) { w.Own = mirrored.Publisher }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t)
			broker := New("", s, s)
			broker.Prefer(named{testRef: "example.org"})
			site, mirror := newLog(s, testRef).items(1, 1), newLog(s, mirrored).items(1, 1)
			if c.change != nil {
				c.change(&site[0], &mirror[0])
			}
			check(t, s.Append(t.Context(), site))
			check(t, s.Append(t.Context(), mirror))
			out := &shownItems{}
			want := wanting(t, "")
			if c.want != nil {
				c.want(&want)
			}
			check(t, broker.Serve(t.Context(), Reader{Want: want, Out: out}))
			if len(out.items) != c.shown {
				t.Errorf("%d entries are shown, want %d", len(out.items), c.shown)
			}
		})
	}
}

// TestSearchBehindCopiesEnds: copies without end cost a bounded number of pages, and are shown
// then, so that the reader does not take the answer for a whole one.
func TestSearchBehindCopiesEnds(t *testing.T) {
	s := openStore(t)
	broker := New("", s, s)
	broker.Prefer(named{testRef: "example.org"})
	newLog(s, testRef).append(t, 1, 1)
	squat := newLog(s, feedring.FeedRef{URL: testRef.URL, Publisher: "squatter"}).items(1, 1)[0]
	pages := 0
	items, err := broker.newest(t.Context(), store.Search{Limit: 2}, func(context.Context, store.Search) ([]store.Item, store.Cursor, error) {
		pages++
		return []store.Item{squat}, "more", nil
	})
	check(t, err)
	if len(items) != 2 || pages != mostPages {
		t.Errorf("%d entries after %d pages", len(items), pages)
	}
}
