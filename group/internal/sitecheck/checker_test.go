package sitecheck

import (
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func feed(url string) feedring.FeedRef { return feedring.FeedRef{URL: url, Publisher: "p1"} }

func vouch(site string) catalogue.Vouch { return catalogue.Vouch{Site: site, Publisher: "p1"} }

// index is of a group in which p1 alone publishes feeds.
func index(urls ...string) *catalogue.Index {
	row := &catalogue.Row{Peer: "p1"}
	for _, u := range urls {
		row.Feeds = append(row.Feeds, feedring.Feed{URL: u})
	}
	return catalogue.NewIndex("p1", []*catalogue.Row{row}, func(feedring.PeerID) bool { return false })
}

// begin checks all feeds of x and fails unless that begins a check of each.
func begin(t *testing.T, s *Checker, x *catalogue.Index, own []catalogue.Vouch, now time.Time) {
	t.Helper()
	if begun, _ := s.Review(x, own, now); len(begun) != len(x.Feeds) {
		t.Fatalf("it begins checks of %v of %d feeds", begun, len(x.Feeds))
	}
}

// Failed checks become rare, down to one a day, and feeds are checked at different times of the day.
func TestPausesGrowToADay(t *testing.T) {
	own := feed("https://a.example/rss")
	for _, refresh := range []time.Duration{time.Second, 10 * time.Second, 5 * time.Minute, 10 * time.Minute} {
		s := New("p1", refresh)
		for _, ref := range []feedring.FeedRef{own, {URL: own.URL, Publisher: "other"}} {
			last, sum := time.Duration(0), time.Duration(0)
			for tries := range 100 {
				pause := s.pause(ref, tries)
				if pause < last || pause > every {
					t.Errorf("%v, %v: %v after %v", refresh, ref.Publisher, pause, last)
				}
				last = pause
				if tries < 12 {
					sum += pause
				}
			}
			if last < every*7/8 || sum < 12*time.Hour {
				t.Errorf("%v, %v: in the end a check each %v, the first twelve within %v", refresh, ref.Publisher, last, sum)
			}
		}
		if s.interval(own) == s.interval(feed(own.URL+"2")) {
			t.Error("two feeds have one time")
		}
	}
}

// Review begins no more than a batch of checks at once, and goes on soon after.
func TestReviewBeginsABatch(t *testing.T) {
	var urls []string
	for i := range batch + 1 {
		urls = append(urls, "https://"+string(rune('a'+i))+".example/rss")
	}
	s, x := New("p1", time.Minute), index(urls...)
	begun, next := s.Review(x, nil, start)
	if len(begun) != batch || !next.Equal(start.Add(time.Minute/8)) {
		t.Errorf("%d checks begin at once, the next at %v", len(begun), next)
	}
	if begun, _ = s.Review(x, nil, next); len(begun) != 1 {
		t.Errorf("then %v", begun)
	}
}

// A vouch of this peer's row counts as a check: the next one follows a day later.
func TestVouchOfTheRowDelaysTheFirstCheck(t *testing.T) {
	v := vouch("a.example")
	v.At = start.Add(-time.Hour)
	begun, next := New("p1", time.Minute).Review(index("https://a.example/rss"), []catalogue.Vouch{v}, start)
	if len(begun) > 0 || next.After(v.At.Add(every)) || !next.After(start) {
		t.Errorf("%v begin, the next at %v", begun, next)
	}
}

// A check changes the vouches of the row by what the site said.
func TestOutcomesChangeVouches(t *testing.T) {
	const a, b = "https://a.example/rss", "https://b.a.example/rss"
	good := func(url, site string) Outcome { return Outcome{Feed: feed(url), Vouched: true, Vouch: vouch(site)} }
	for _, c := range []struct {
		name     string
		outcomes []Outcome
		changed  bool     // by the last one
		feeds    []string // of the one vouch; none: there is none
	}{
		{"a site that names the publisher is written down", []Outcome{good(a, "a.example")}, true, []string{a}},
		{"two feeds of a site share its vouch", []Outcome{good(a, "a.example"), good(b, "a.example")}, true, []string{a, b}},
		{"a site speaks for no other host", []Outcome{good(a, "b.example")}, false, nil},
		{"a site that names nobody takes its vouch back", []Outcome{good(a, "a.example"), {Feed: feed(a)}}, true, nil},
		{"it stays for another feed", []Outcome{good(a, "a.example"), good(b, "a.example"), {Feed: feed(a)}}, true, []string{b}},
		{"a site that cannot be asked keeps its vouch", []Outcome{good(a, "a.example"), {Feed: feed(a), Unknown: true}}, false, []string{a}},
	} {
		s, x, now := New("p1", time.Minute), index(a, b), start
		var own []catalogue.Vouch
		var changed bool
		begin(t, s, x, own, now)
		for _, o := range c.outcomes {
			if !s.checks[o.Feed].inFlight {
				now = now.Add(25 * time.Hour)
				s.Review(x, own, now)
			}
			own, changed, _ = s.OnChecked(o, own, now)
		}
		if changed != c.changed {
			t.Errorf("%s: changed %v", c.name, changed)
		}
		if c.changed || len(c.outcomes) > 1 {
			var feeds []string
			for _, v := range own {
				feeds = append(feeds, v.Feeds...)
			}
			if !slices.Equal(feeds, c.feeds) {
				t.Errorf("%s: vouches for %v", c.name, feeds)
			}
		}
	}
}

// An outcome that nobody waits for changes nothing.
func TestOutcomeWithoutACheckIsIgnored(t *testing.T) {
	_, changed, next := New("p1", time.Minute).OnChecked(Outcome{Feed: feed("https://a.example/rss"), Vouched: true, Vouch: vouch("a.example")}, nil, start)
	if changed || !next.IsZero() {
		t.Errorf("changed %v, next %v", changed, next)
	}
}

// Recheck brings a check forward to one a refresh period, and has one that is under way repeated.
func TestRecheckIsBounded(t *testing.T) {
	const a = "https://a.example/rss"
	s, x := New("p1", time.Minute), index(a)
	begin(t, s, x, nil, start)
	s.Recheck("p1", start)
	if _, _, next := s.OnChecked(Outcome{Feed: feed(a)}, nil, start.Add(time.Second)); !next.Equal(start.Add(time.Second)) {
		t.Errorf("asked for while under way, it comes again at %v", next)
	}
	begin(t, s, x, nil, start.Add(time.Second))
	s.OnChecked(Outcome{Feed: feed(a)}, nil, start.Add(2*time.Second))
	s.Recheck("p1", start.Add(3*time.Second))
	if begun, next := s.Review(x, nil, start.Add(4*time.Second)); len(begun) > 0 || next.After(start.Add(time.Minute+time.Second)) {
		t.Errorf("%v begin, the next at %v", begun, next)
	}
	s.Recheck("other", start)
	begin(t, s, x, nil, start.Add(time.Minute+time.Second))
}

// A vouch expires with its age.
func TestVouchesExpire(t *testing.T) {
	const a = "https://a.example/rss"
	s, x := New("p1", time.Minute), index(a)
	begin(t, s, x, nil, start)
	own, _, _ := s.OnChecked(Outcome{Feed: feed(a), Vouched: true, Vouch: vouch("a.example")}, nil, start)
	if left, changed := s.Expire(own, start.Add(catalogue.VouchAge)); changed || len(left) != 1 {
		t.Errorf("in time: %v", left)
	}
	if left, changed := s.Expire(own, start.Add(catalogue.VouchAge+time.Second)); !changed || len(left) != 0 {
		t.Errorf("later: %v", left)
	}
}
