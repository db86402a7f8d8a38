package origins

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/web"
)

// blockedFeed blocks one address.
type blockedFeed string

func (b blockedFeed) BlocksFeed(url string) bool { return url == string(b) }

// A feed that is carried is offered as such, is not removed by hand, ends when the machine says so, and is this peer's own
// once its owner adds it.
func TestCarriedFeeds(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	l := newSiteOfFeeds(t, s, p)
	l.assigned(t, 0, nil)
	l.Volunteers, l.Freshness = []feedring.Theme{testTheme}, 24*time.Hour
	carry := func(l *siteOfFeeds, list ...feedring.Feed) {
		l.carryAll(map[feedring.GroupID][]feedring.Feed{feedring.Theme(testTheme).Group(): list})
	}
	const since = 1_700_000_000
	one := feedring.Feed{URL: testURL, Title: "t", Provider: testSpec.Provider, Carried: since}
	carry(l, one)
	offered := func(l *siteOfFeeds) []feedring.Feed { return l.Offered()[testTheme] }
	if got := offered(l); len(got) != 1 || got[0].Carried != since || got[0].Title != "t" {
		t.Fatalf("offered: %v", got)
	}
	if st, err := l.State(testURL); err != nil || !st.Offered.Equal(time.Unix(since, 0).Add(-12*time.Hour)) {
		t.Errorf("it counts as offered since %v: %v", st.Offered, err)
	}
	if err := l.remove(t.Context(), testURL); !errors.As(err, new(*web.CarriedError)) {
		t.Errorf("removed by hand: %v", err)
	}
	again := newSiteOfFeeds(t, s, p) // it starts again and does not volunteer any more
	if got := offered(again); len(got) != 0 {
		t.Errorf("offered by one that does not volunteer: %v", got)
	}
	carry(l)
	if got := offered(l); len(got) != 0 || len(l.urls()) != 0 {
		t.Errorf("offered when it has ended: %v", got)
	}
	carry(l, one)
	check(t, l.add(t.Context(), testSpec))
	carry(l)
	if got := offered(l); len(got) != 1 || got[0].Carried != 0 {
		t.Errorf("offered after its owner added it: %v", got)
	}
	check(t, l.remove(context.Background(), testURL))
}

// What this peer may not fetch, or its owner blocks, is left to others; so is everything in a group that it does not read.
func TestWhatIsNotCarried(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	l := newSiteOfFeeds(t, s, p)
	l.assigned(t, 0, nil)
	l.Volunteers, l.Blocks = []feedring.Theme{testTheme}, blockedFeed(testURL)
	var list []feedring.Feed
	for _, url := range []string{testURL, "http://127.0.0.1/feed", "file:///etc/passwd", "gopher://example.org/"} {
		list = append(list, feedring.Feed{URL: url, Carried: 1})
	}
	l.carryAll(map[feedring.GroupID][]feedring.Feed{feedring.Theme(testTheme).Group(): list})
	l.carryAll(map[feedring.GroupID][]feedring.Feed{feedring.Theme("other").Group(): {{URL: "https://example.org/other", Carried: 1}}})
	if urls := l.urls(); len(urls) != 0 {
		t.Errorf("it carries %v", urls)
	}
}

// Carry takes what the machine says last, off the loop.
func TestCarryFollowsTheLastWord(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	l := newSiteOfFeeds(t, s, p)
	l.assigned(t, 0, nil)
	l.Volunteers = []feedring.Theme{testTheme}
	g := feedring.Theme(testTheme).Group()
	for range 50 {
		l.Carry(group.Carry{Group: g, Feeds: []feedring.Feed{{URL: testURL, Provider: testSpec.Provider, Carried: 1}}})
		l.Carry(group.Carry{Group: g})
	}
	l.Carry(group.Carry{Group: g, Feeds: []feedring.Feed{{URL: testURL, Provider: testSpec.Provider, Carried: 1}}})
	eventually(t, "what was said last", func() bool { return len(l.urls()) == 1 })
}

// BenchmarkCarry has a peer with as many own feeds as it may have hear that it carries 1,000 others, of which nothing changed.
func BenchmarkCarry(b *testing.B) {
	s, p := openStore(b), writer(nil, newSealer(b))
	p.Store = s
	l := newSiteOfFeeds(b, s, p)
	g := feedring.Theme(testTheme).Group()
	var carried []feedring.Feed
	for i := range feedring.MaxFeeds {
		spec := feedring.FeedSpec{URL: fmt.Sprintf("https://example.org/%d", i), Theme: testTheme, Provider: testSpec.Provider}
		f := newOrigin(spec)
		if i%(feedring.MaxFeeds/1000) == 0 {
			f.more.carried = 1
			carried = append(carried, feedring.Feed{URL: spec.URL, Carried: 1})
		}
		l.set(f)
	}
	for b.Loop() {
		l.carryAll(map[feedring.GroupID][]feedring.Feed{g: carried})
	}
}
