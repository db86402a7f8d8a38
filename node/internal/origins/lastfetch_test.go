package origins

import (
	"testing"
	"time"

	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/origin/watch"
	"github.com/feedring/feedring/node/internal/tasks"
)

// Whose turn it is after another peer's goes on from that one's last fetch, also
// after a restart; and tells the group of it.
func TestTurnGoesOnFromTheLastFetch(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	l := newSiteOfFeeds(t, s, p)
	told := make(chan group.OriginFetched, 10)
	l.assigned(t, 7, func(in group.Input) {
		if in, ok := in.(group.OriginFetched); ok {
			told <- in
		}
	})
	check(t, l.add(t.Context(), testSpec))
	now := time.Now()
	l.assignments.onAssignment(group.FetchAssignment{Group: testTheme.Group(), URL: testURL, By: "another", Mirrors: true})
	l.assignments.onAssignment(group.FetchAssignment{Group: testTheme.Group(), URL: testURL, Slot: 1, Slots: 1, By: p.Self, Mirrors: true,
		Last: &group.LastFetch{Ago: 10 * time.Minute, Wait: 2 * time.Hour, Host: "example.org", ETag: `"1"`, Entries: 7, Failures: 3, Again: 3 * time.Hour}})
	near := func(a, b time.Time) bool { return a.Sub(b).Abs() < time.Minute }
	in := <-told
	if in.URL != testURL || in.Last.Host != "example.org" || in.Last.Ago < 10*time.Minute || !near(now.Add(in.Last.Wait), now.Add(2*time.Hour)) {
		t.Errorf("the group is told %+v", in)
	}
	if again := now.Add(in.Last.Again); in.Last.Failures != 3 || !near(again, now.Add(3*time.Hour)) {
		t.Errorf("of failures the group is told %+v", in)
	}
	if opens := l.watcher.Opens("example.org"); !near(opens, now.Add(2*time.Hour)) {
		t.Errorf("the host is left alone until %v", opens)
	}
	check(t, l.save(t.Context(), testURL))
	for _, l := range []*siteOfFeeds{l, newSiteOfFeeds(t, s, p)} {
		st, err := l.State(testURL)
		check(t, err)
		if !near(st.LastFetch, now.Add(-10*time.Minute)) || !near(st.NotBefore, now.Add(2*time.Hour)) || st.Held != "example.org" {
			t.Errorf("it goes on from %+v", st)
		}
		if st.Failures != 3 || !near(st.NextFetch, now.Add(3*time.Hour)) {
			t.Errorf("it fails on from %+v", st)
		}
	}
}

// Another of those in turn was asked to wait: who is watching already waits too.
func TestThoseInTurnAreHeld(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	l := newSiteOfFeeds(t, s, p)
	l.assigned(t, 0, nil)
	check(t, l.add(t.Context(), testSpec))
	turn := group.FetchAssignment{Group: testTheme.Group(), URL: testURL, Slot: 2, Slots: 3, By: p.Self, Mirrors: true}
	l.assignments.onAssignment(turn)
	eventually(t, "its turn", func() bool { _, err := l.watcher.Fetch(testURL); return err == nil })
	turn.Last = &group.LastFetch{Wait: time.Hour, Host: "example.org"}
	l.assignments.onAssignment(turn)
	eventually(t, "the host is left alone", func() bool { return time.Until(l.watcher.Opens("example.org")) > 50*time.Minute })
}

// Peers that hold the same of a feed name it alike, and others do not.
func TestEntriesAreNamed(t *testing.T) {
	s := openStore(t)
	n := &Feeds{Config: Config{Store: s}}
	if n.entriesNamed(testSpec) != 0 {
		t.Error("nothing has a name")
	}
	first := writer(s, newSealer(t))
	first.append(t, testSpec, entries(1, 3)...)
	one := n.entriesNamed(testSpec)
	first.append(t, testSpec, entries(4, 5)...)
	two := n.entriesNamed(testSpec)
	writer(s, newSealer(t)).append(t, testSpec, entries(6, 7)...)
	three := n.entriesNamed(testSpec)
	if one == 0 || one == two || two == three || three != n.entriesNamed(testSpec) {
		t.Errorf("%x %x %x", one, two, three)
	}
}

// What an origin asked for is kept by those too that do not fetch, so that whoever
// looks after all have stopped keeps to it.
func TestWhoRestsKeepsWhatAnOriginAsked(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	resting := func() *siteOfFeeds {
		l := newSiteOfFeeds(t, s, p)
		l.assigned(t, 0, nil)
		return l
	}
	l := resting()
	gone := testSpec
	gone.URL = "https://gone.example/feed"
	check(t, l.add(t.Context(), testSpec))
	check(t, l.add(t.Context(), gone))
	hold := &group.LastFetch{Ago: 10 * time.Minute, Wait: 5 * time.Hour, Host: "example.org", Failures: 1, Again: 5 * time.Hour}
	l.assignments.onAssignment(group.FetchAssignment{Group: testTheme.Group(), URL: testURL, By: "another", Mirrors: true, Last: hold})
	l.assignments.onAssignment(group.FetchAssignment{Group: testTheme.Group(), URL: gone.URL, By: "another", Mirrors: true, Last: &group.LastFetch{Ago: time.Minute, Gone: true}})
	kept := func(url string) fetch.State { st, err := l.kept(url); check(t, err); return st }
	eventually(t, "what was heard is on disk", func() bool { return kept(testURL).Held != "" && kept(gone.URL).Gone })
	if opens := l.watcher.Opens("example.org"); !opens.IsZero() {
		t.Errorf("the host itself is left alone until %v", opens)
	}

	l = resting()
	check(t, l.load(nil))
	for _, url := range []string{testURL, gone.URL} {
		l.assignments.onAssignment(group.FetchAssignment{Group: testTheme.Group(), URL: url, Slot: 1, Slots: 1, By: p.Self})
	}
	eventually(t, "the host is left alone", func() bool { return time.Until(l.watcher.Opens("example.org")) > 4*time.Hour })
	if st := kept(gone.URL); time.Until(st.NextFetch) < 23*time.Hour {
		t.Errorf("what is gone is asked for at %v", st.NextFetch)
	}
}

// A feed that is removed takes nothing of what its host asked for with it.
func TestRemovedFeedsHostIsLeftAlone(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	l := newSiteOfFeeds(t, s, p)
	private := testSpec
	private.Theme = ""
	check(t, l.add(t.Context(), private))
	until := time.Now().Add(3 * time.Hour)
	l.FetchEnded(testURL, fetch.State{URL: testURL, LastFetch: time.Now(), NextFetch: until, NotBefore: until, Held: "example.org", Failures: 1, LastError: "429"})
	check(t, l.remove(t.Context(), testURL))
	l = newSiteOfFeeds(t, s, p)
	check(t, l.load(nil))
	l.start()
	if opens := l.watcher.Opens("example.org"); !opens.Equal(until) {
		t.Errorf("the host is left alone until %v, not %v", opens, until)
	}
}

// The watcher is told what part of its host's time a feed has.
func TestPartOfAHostsTime(t *testing.T) {
	ended := &tasks.Group{}
	ended.End(0)
	n := &Feeds{assignments: &assignments{tasks: ended, now: map[string]assignment{}}}
	n.assignments.onAssignment(group.FetchAssignment{URL: testURL, Slot: 1, Slots: 1, Part: group.Part{From: 5, Size: 6}})
	if part := n.hostPolicy().Origins.Part(testURL); part != (watch.Part{From: 5, Size: 6}) {
		t.Errorf("it has %v", part)
	}
	if part := n.hostPolicy().Origins.Part("https://another.example/"); part != (watch.Part{}) {
		t.Errorf("another has %v", part)
	}
}
