package fetchassign

import (
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// board is a manager's assigner, and three peers that offer one feed, p1 the nearest.
type board struct {
	t     *testing.T
	a     *Assigner
	h     *Snapshot
	every map[feedring.PeerID]time.Duration

	fetchers int // that each wants
}

func newBoard(t *testing.T) *board {
	var rows []*catalogue.Row
	for _, p := range []feedring.PeerID{"p1", "p2", "p3"} {
		rows = append(rows, &catalogue.Row{Peer: p, Feeds: []feedring.Feed{{URL: url}}})
	}
	return &board{t: t, fetchers: 1, a: NewAssigner(), every: map[feedring.PeerID]time.Duration{}, h: &Snapshot{
		Self: "m", Now: time.Unix(1_000_000, 0), Refresh: 10 * time.Second, Vouched: map[feedring.FeedRef]string{}, Parts: Parts{},
		Index: catalogue.NewIndex("m", rows, func(feedring.PeerID) bool { return false }),
	}}
}

// runs lets time pass: all ask each five minutes, and the fetcher tells what fetch says.
func (d *board) runs(length time.Duration, fetch func(p feedring.PeerID) *LastFetch) (fetcher feedring.PeerID) {
	for end := d.h.Now.Add(length); d.h.Now.Before(end); d.h.Now = d.h.Now.Add(5 * time.Minute) {
		for i, p := range []feedring.PeerID{"p1", "p2", "p3"} {
			r := Request{URL: url, Distance: 10 * time.Millisecond << (2 * i), Fetchers: d.fetchers, Fetching: d.fetches(p, fetcher), Every: d.every[p]}
			if d.fetches(p, fetcher) {
				r.Last = fetch(p)
			}
			d.a.OnRequests(d.h, p, []Request{r})
		}
		d.a.Review(d.h)
		fetcher = d.a.feeds[url].announced[0]
	}
	return fetcher
}

// fetches reports whether a peer fetches, as it was told.
func (d *board) fetches(p, fetcher feedring.PeerID) bool {
	s := d.a.feeds[url]
	return p == fetcher || s != nil && slices.Contains(s.announced, p)
}

func silent(feedring.PeerID) *LastFetch { return nil }

// A fetcher that is there and tells no fetch for two of its intervals is replaced, and is not chosen again for a day
// while another would fetch.
func TestTurnInVainGoesToTheNext(t *testing.T) {
	d := newBoard(t)
	if p := d.runs(47*time.Hour, silent); p != "p1" {
		t.Errorf("before two days are over %s fetches", p)
	}
	honest := func(p feedring.PeerID) *LastFetch {
		if p == "p1" {
			return nil
		}
		return &LastFetch{}
	}
	if p := d.runs(2*time.Hour, honest); p != "p2" {
		t.Errorf("after two days %s fetches", p)
	}
	if p := d.runs(22*time.Hour, honest); p != "p2" {
		t.Errorf("within a day %s fetches again", p)
	}
}

// A peer with a fixed interval loses its turn by that, however short it says that it is.
func TestIntervalThatIsToldCounts(t *testing.T) {
	d := newBoard(t)
	d.every["p1"] = time.Hour
	if p := d.runs(110*time.Minute, silent); p != "p1" {
		t.Errorf("before two hours are over %s fetches", p)
	}
	if p := d.runs(30*time.Minute, silent); p != "p2" {
		t.Errorf("after two hours %s fetches", p)
	}
	d = newBoard(t)
	d.every["p1"] = 1
	if p := d.runs(10*time.Minute, silent); p != "p1" {
		t.Errorf("after two reviews %s fetches", p)
	}
}

// Who tells fetches keeps its turn, also while they fail, while the origin wants to be left alone, and where the feed
// is gone.
func TestTurnThatBringsSomethingStays(t *testing.T) {
	for name, last := range map[string]LastFetch{
		"fetched": {}, "failing": {Failures: 3, Again: 24 * time.Hour}, "asked to wait": {Wait: 25 * time.Hour}, "gone": {Gone: true, Failures: 1},
	} {
		d := newBoard(t)
		first := d.h.Now
		if p := d.runs(70*time.Hour, func(feedring.PeerID) *LastFetch {
			told := last
			if name != "fetched" { // one fetch, told again and again
				told = *bounded(&last, first).asOf(d.h.Now)
			}
			return &told
		}); p != "p1" {
			t.Errorf("%s: %s fetches", name, p)
		}
	}
}

// A peer that is told of others' fetches and repeats them tells none of its own.
func TestFetchOfAnotherKeepsNoTurn(t *testing.T) {
	d := newBoard(t)
	d.runs(10*time.Minute, func(feedring.PeerID) *LastFetch { return &LastFetch{} })
	if p := d.runs(49*time.Hour, func(feedring.PeerID) *LastFetch { return d.a.feeds[url].last.asOf(d.h.Now) }); p != "p2" {
		t.Errorf("%s fetches", p)
	}
}

// Of two that fetch in turn, the one that tells no fetch loses its turn, though the other tells some.
func TestFetchesOfTheOtherFetcherKeepNoTurn(t *testing.T) {
	d := newBoard(t)
	d.fetchers = 2
	d.runs(10*time.Minute, silent)
	ago := time.Hour
	d.runs(100*time.Hour, func(p feedring.PeerID) *LastFetch {
		if p == "p1" {
			return nil
		}
		ago = time.Hour - ago // another fetch each time
		return &LastFetch{Ago: ago / 60}
	})
	if by := d.a.feeds[url].announced; slices.Contains(by, "p1") {
		t.Errorf("%v fetch", by)
	}
}

// Where nobody's turn brings anything, turns go round.
func TestAllTurnsInVain(t *testing.T) {
	d := newBoard(t)
	seen := map[feedring.PeerID]bool{}
	for range 6 {
		seen[d.runs(49*time.Hour, silent)] = true
	}
	if len(seen) < 2 {
		t.Errorf("only %v were chosen", seen)
	}
}
