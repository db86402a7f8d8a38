package origins

import (
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/sealed"
)

// historyOf is what the entries of a log say of themselves.
func historyOf(t *testing.T, s *store.Store, ref feedring.FeedRef) (all []feedring.History) {
	t.Helper()
	for _, it := range log(t, s, ref) {
		e, _, err := wire.DecodeEntry(sealed.Seal(&it))
		check(t, err)
		all = append(all, e.History)
	}
	return all
}

func old(list []feedring.Entry) []feedring.Entry {
	for i := range list {
		list[i].History = feedring.OlderHistory
	}
	return list
}

const (
	isNews  = feedring.NoHistory
	isOlder = feedring.OlderHistory
)

// Since when a feed is offered is kept over restarts until it was read, and begins
// anew in another group.
func TestSinceWhenFeedsAreOffered(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	fixed := feedring.FeedSpec{URL: "https://example.org/fixed", Theme: "sport", Provider: "example.org"}
	before := time.Now()
	l := newSiteOfFeeds(t, s, p, fixed)
	check(t, l.add(t.Context(), testSpec))
	offered := func(l *siteOfFeeds, url string) time.Time {
		t.Helper()
		st, err := l.State(url)
		check(t, err)
		return st.Offered
	}
	first, firstFixed := offered(l, testURL), offered(l, fixed.URL)
	if first.Before(before) || firstFixed.Before(before) {
		t.Errorf("offered since %v and %v", first, firstFixed)
	}
	l = newSiteOfFeeds(t, s, p, fixed)
	check(t, l.add(t.Context(), testSpec)) // known
	if !offered(l, testURL).Equal(first) || !offered(l, fixed.URL).Equal(firstFixed) {
		t.Error("it is another time after a restart")
	}
	fixed.Theme = "weather"
	l = newSiteOfFeeds(t, s, p, fixed)
	if !offered(l, fixed.URL).After(firstFixed) {
		t.Error("in another group it is the same time")
	}
	now := time.Now()
	l.FetchEnded(testURL, fetch.State{URL: testURL, LastFetch: now, LastSuccess: now})
	if !offered(l, testURL).IsZero() {
		t.Error("a feed that was read may have history")
	}
}

// What is found is history in an empty log alone: a fetch that nobody noted may have
// been the first.
func TestOnlyAnEmptyLogTakesHistory(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	l := newSiteOfFeeds(t, s, p)
	check(t, l.add(t.Context(), testSpec))
	check(t, l.Changed(t.Context(), testURL, old(entries(1, 2)), fetch.State{URL: testURL}))
	check(t, l.Changed(t.Context(), testURL, old(entries(1, 3)), fetch.State{URL: testURL}))
	ref := feedring.FeedRef{URL: testURL, Publisher: p.Self}
	if got := historyOf(t, s, ref); !slices.Equal(got, []feedring.History{isOlder, isOlder, isNews}) {
		t.Errorf("the log says %v", got)
	}
	check(t, l.remove(t.Context(), testURL))
	moved := testSpec
	moved.Theme = "sport"
	check(t, l.add(t.Context(), moved))
	check(t, l.Changed(t.Context(), testURL, old(entries(1, 1)), fetch.State{URL: testURL}))
	if got := historyOf(t, s, ref); len(got) != 4 || got[3] != isOlder {
		t.Errorf("in another group the log says %v", got)
	}
}

// What follows an entry that the group has, or changes one, is news, whoever fetches
// the feed for the first time.
func TestWhatFollowsKnownEntriesIsNews(t *testing.T) {
	s := openStore(t)
	first, second := writer(s, newSealer(t)), writer(s, newSealer(t))
	second.Mirrors = mirroredBy{first.Self}
	first.append(t, testSpec, entries(3, 4)...)
	found := old(entries(1, 6))
	found[2].Summary = "entry three, corrected"
	second.append(t, testSpec, found...)
	want := []feedring.History{isOlder, isOlder, isNews, isNews, isNews} // 1, 2, 3 again, 5, 6
	if got := historyOf(t, s, feedring.FeedRef{URL: testURL, Publisher: second.Self}); !slices.Equal(got, want) {
		t.Errorf("the log says %v, not %v", got, want)
	}
}
