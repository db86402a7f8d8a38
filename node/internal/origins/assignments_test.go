package origins

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/sealed"
)

// mirroredBy is other peers that publish the same feed.
type mirroredBy []feedring.PeerID

func (m mirroredBy) Mirrors(string) []feedring.PeerID { return m }
func (m mirroredBy) Adopted(string)                   {}

// mirroredUntil is another peer that does until the site names its own.
type mirroredUntil struct {
	*Feeds
	named *bool
	by    feedring.PeerID
}

func (m mirroredUntil) Mirrors(string) []feedring.PeerID {
	if *m.named {
		return nil
	}
	return []feedring.PeerID{m.by}
}

// siteNames tells whether the site of a feed names its peer.
type siteNames struct{ named *bool }

func (s siteNames) Vouched(string) bool { return *s.named }

// Who takes a mirrored feed over publishes nothing that the group holds, and what
// changed since as the version after.
func TestTakenOverFeedIsNotPublishedAgain(t *testing.T) {
	s := openStore(t)
	first, second := writer(s, newSealer(t)), writer(s, newSealer(t))
	second.Mirrors = mirroredBy{first.Self}
	first.append(t, testSpec, entries(1, 5)...)
	changed := anEntry(3)
	changed.Summary = "entry three, corrected"
	second.append(t, testSpec, anEntry(1), anEntry(2), changed, anEntry(4), anEntry(5), anEntry(6))
	held := log(t, s, feedring.FeedRef{URL: testURL, Publisher: second.Self})
	if len(held) != 2 || held[0].ID != changed.ID || held[0].Version != 2 || held[1].ID != anEntry(6).ID || held[1].Version != 1 {
		t.Errorf("it published %d entries: %+v", len(held), held)
	}
	moved := testSpec
	moved.Theme = "sport" // there the group has none of it
	other := writer(s, newSealer(t))
	other.Mirrors = second.Mirrors
	other.append(t, moved, entries(1, 5)...)
	if n := len(log(t, s, feedring.FeedRef{URL: testURL, Publisher: other.Self})); n != 5 {
		t.Errorf("%d entries in another group", n)
	}
}

// A site that names its peer only after this one took its feed over from a mirror
// has all of it published by its own peer, once.
func TestSitesOwnPeerPublishesWhatMirrorsDid(t *testing.T) {
	s := openStore(t)
	mirror, own := writer(s, newSealer(t)), writer(s, newSealer(t))
	l := newSiteOfFeeds(t, s, own)
	named := false
	l.ours = siteNames{&named}
	own.Mirrors = mirroredUntil{l.Feeds, &named, mirror.Self}
	check(t, l.add(t.Context(), testSpec))
	mirror.append(t, testSpec, entries(1, 3)...)
	look := func(found ...feedring.Entry) (known bool) {
		st, err := l.State(testURL)
		check(t, err)
		known = !st.LastFetch.IsZero()
		if !known {
			found = entries(1, 3)
		}
		next := fetch.State{URL: testURL, LastFetch: time.Now(), LastSuccess: time.Now()}
		if len(found) > 0 {
			check(t, l.Changed(t.Context(), testURL, found, next))
		}
		l.FetchEnded(testURL, next)
		return known
	}
	published := func() int { return len(log(t, s, feedring.FeedRef{URL: testURL, Publisher: own.Self})) }
	if look() || published() != 0 {
		t.Errorf("%d entries of a mirror were published again", published())
	}
	named = true
	if !look() || published() != 0 {
		t.Error("what the look before left was not gone on from")
	}
	if look() || published() != 3 {
		t.Errorf("the site's own peer publishes %d entries", published())
	}
	if first := look(); !first || !look() || published() != 3 {
		t.Errorf("it did so again: %d entries", published())
	}
}

// A published feed that its origin took away is fetched when it is added again:
// after it was removed, as soon as its turn is known; else at once.
func TestGoneFeedIsAddedAgain(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	l := newSiteOfFeeds(t, s, p)
	l.assigned(t, 0, nil)
	asked := func() bool {
		_, ok := l.watcher.Waits(testURL)
		return ok
	}
	turn := func() {
		l.assignments.onAssignment(group.FetchAssignment{Group: testTheme.Group(), URL: testURL, Slot: 1, Slots: 1})
	}
	check(t, l.add(t.Context(), testSpec))
	l.FetchEnded(testURL, fetch.State{URL: testURL, LastFetch: time.Now(), Failures: 1, LastError: "410", Gone: true})
	check(t, l.remove(t.Context(), testURL))
	check(t, l.add(t.Context(), testSpec))
	turn()
	eventually(t, "a look", asked)
	l.watcher.Remove(testURL)
	l.watch(testURL)
	if asked() {
		t.Error("it is asked for once more")
	}
	if said := l.addAll(t.Context(), []feedring.FeedSpec{testSpec}, nil); !said[0].Known || !asked() {
		t.Errorf("where it is there already it is not looked at: %+v", said)
	}
}

func TestFailing(t *testing.T) {
	for _, test := range []struct {
		state fetch.State
		want  bool
	}{
		{fetch.State{}, false},
		{fetch.State{Failures: 1, LastError: "403 Forbidden; a page"}, true},
		{fetch.State{Failures: 1, LastError: "no such host: x"}, false},
		{fetch.State{Failures: 3, LastError: "no such host: x"}, true},
		{fetch.State{Failures: 5, LastError: "429: fewer", Held: "x"}, false},
		{fetch.State{Failures: 5, LastError: "410", Gone: true}, false},
	} {
		if got := failing(&test.state); got != test.want {
			t.Errorf("%+v: %v", test.state, got)
		}
	}
}

// A feed waits for its turn, and goes on and rests as the group says.
func TestFeedsFollowTheirTurns(t *testing.T) {
	s, p := openStore(t), writer(nil, newSealer(t))
	p.Store = s
	l := newSiteOfFeeds(t, s, p)
	l.assigned(t, 0, nil)
	private := feedring.FeedSpec{URL: "https://example.org/private", Provider: "example.org"}
	check(t, l.add(t.Context(), testSpec))
	check(t, l.add(t.Context(), private))
	watched := func(url string) bool {
		_, err := l.watcher.Fetch(url)
		return err == nil
	}
	if watched(testURL) || !watched(private.URL) {
		t.Error("a feed is looked at before its turn, or a private one waits for one")
	}
	turn := group.FetchAssignment{Group: testTheme.Group(), URL: testURL, Slot: 1, Slots: 1, Mirrors: true}
	l.assignments.onAssignment(turn)
	eventually(t, "its turn", func() bool { return watched(testURL) })
	turn.Slot, turn.Slots, turn.By = 0, 0, "another"
	l.assignments.onAssignment(turn)
	eventually(t, "another's turn", func() bool { return !watched(testURL) })
	if !l.assignments.of(testURL).mirrored || !l.assignments.fetchedElsewhere(testSpec) || l.assignments.fetchedElsewhere(private) {
		t.Error("what is known of the turn is wrong")
	}
	check(t, l.remove(t.Context(), testURL))
	if len(l.assignments.now) != 0 {
		t.Error("a turn is kept of a feed that was removed")
	}
}

// A mirror that calls an entry history, and dates it so that no reader is told of
// it, does not keep another one from publishing it as the news that it is.
func TestMirrorsHideNoNews(t *testing.T) {
	s := openStore(t)
	first, second := writer(s, newSealer(t)), writer(s, newSealer(t))
	second.Mirrors = mirroredBy{first.Self}
	told := entries(1, 4)
	told[0].History, told[1].History, told[2].History = feedring.OlderHistory, feedring.OlderHistory, feedring.UndatedHistory
	told[1].Published = told[1].Published.Add(-24 * time.Hour)
	first.append(t, testSpec, told...)
	second.append(t, testSpec, entries(1, 4)...)
	held := log(t, s, feedring.FeedRef{URL: testURL, Publisher: second.Self})
	if len(held) != 2 || held[0].ID != told[1].ID || held[1].ID != told[2].ID {
		t.Fatalf("it published %d entries: %+v", len(held), held)
	}
	for i := range held {
		e, _, err := wire.DecodeEntry(sealed.Seal(&held[i]))
		check(t, err)
		if e.History != feedring.NoHistory || e.Version != 2 {
			t.Errorf("%s: %v, version %d", e.Title, e.History, e.Version)
		}
	}
}
