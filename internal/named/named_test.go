package named

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

const (
	self  feedring.PeerID = "self"
	retry                 = time.Minute
)

var start = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// world is a registry, and sites that answer at once.
type world struct {
	t     *testing.T
	r     *Registry
	now   time.Time
	names map[string]map[feedring.PeerID]bool // by site; nil: it cannot be asked
	asked map[string]int
}

func newWorld(t *testing.T, kept ...Named) *world {
	return &world{
		t: t, r: New(Config{Self: self, Retry: retry}, kept), now: start,
		names: map[string]map[feedring.PeerID]bool{}, asked: map[string]int{},
	}
}

func (w *world) site(site string, peers ...feedring.PeerID) {
	w.names[site] = map[feedring.PeerID]bool{}
	for _, p := range peers {
		w.names[site][p] = true
	}
}

// ask has all sites asked that are due.
func (w *world) ask() (changes int) {
	for _, q := range w.r.Questions(w.now, 1000) {
		w.asked[q.Site]++
		answer := Unknown
		if site := w.names[q.Site]; site != nil {
			answer = No
			if site[q.Peer] {
				answer = Yes
			}
		}
		if w.r.Answered(q, answer, w.now) {
			changes++
		}
	}
	return changes
}

// pass lets time pass, in which each of the peers is met.
func (w *world) pass(d, step time.Duration, met ...feedring.PeerID) {
	for end := w.now.Add(d); w.now.Before(end); w.now = w.now.Add(step) {
		for _, p := range met {
			w.r.Names(p, w.now)
		}
		w.ask()
	}
}

func (w *world) must(p feedring.PeerID, want bool) {
	w.t.Helper()
	if got := w.r.Names(p, w.now); got != want {
		w.t.Errorf("after %s %s is named: %t", w.now.Sub(start), p, got)
	}
}

// TestOnlyASiteNames: neither what a peer says of itself nor what others say is enough.
func TestOnlyASiteNames(t *testing.T) {
	w := newWorld(t)
	w.site("a.example", "p")
	w.r.Tell("p", "p", []string{"a.example"}, w.now)
	w.r.Tell("squatter", "squatter", []string{"a.example", "b.example"}, w.now)
	w.r.Tell("squatter", "friend", []string{"a.example"}, w.now)
	w.ask()
	if len(w.asked) > 0 {
		t.Errorf("%v were asked about peers that nobody met", w.asked)
	}
	w.must("p", false)
	w.pass(time.Hour, time.Second, "p", "squatter")
	w.must("p", true)
	w.must("squatter", false)
	if w.asked["b.example"] == 0 || w.asked["b.example"] > 10 {
		t.Errorf("the site that cannot be asked was asked %d times in an hour", w.asked["b.example"])
	}
	if w.r.Site("p", w.now) != "a.example" || len(w.r.All(w.now)) != 1 {
		t.Errorf("the registry has %v", w.r.All(w.now))
	}
}

// TestASiteThatBeginsToName: the peer is named within the pause between two questions,
// this one itself within ten minutes.
func TestASiteThatBeginsToName(t *testing.T) {
	w := newWorld(t)
	w.site("a.example")
	for _, p := range []feedring.PeerID{self, "p"} {
		w.r.Tell(p, p, []string{"a.example"}, w.now)
	}
	w.pass(20*time.Hour, 10*time.Second, "p")
	w.must(self, false)
	if asked := w.asked["a.example"]; asked > 20*7+20*2 {
		t.Errorf("the site was asked %d times in 20 hours", asked)
	}
	w.site("a.example", self, "p")
	w.pass(ownLast, 10*time.Second, "p")
	w.must(self, true)
	w.pass(latest, 10*time.Second, "p")
	w.must("p", true)
}

// TestASiteThatWithdraws: its peer is a guest again within a day; while the site cannot
// be asked what it said last stands for 36 hours.
func TestASiteThatWithdraws(t *testing.T) {
	for _, how := range []string{"says no", "is down"} {
		w := newWorld(t)
		w.site("a.example", "p", self)
		w.r.Tell("p", "p", []string{"a.example"}, w.now)
		w.r.Tell(self, self, []string{"a.example"}, w.now)
		w.pass(time.Minute, time.Second, "p")
		w.must("p", true)
		w.must(self, true)
		w.pass(100*time.Hour, time.Minute, "p")
		w.must("p", true)
		if asked := w.asked["a.example"]; asked > 2*6 {
			t.Errorf("the site was asked %d times in 100 hours", asked)
		}
		if how == "says no" {
			w.site("a.example")
			w.pass(24*time.Hour, time.Minute, "p")
		} else {
			w.names["a.example"] = nil
			w.pass(Stands-25*time.Hour, time.Minute, "p")
			w.must("p", true)
			w.pass(25*time.Hour, time.Minute, "p")
		}
		w.must("p", false)
		w.must(self, false)
		w.site("a.example", "p", self)
		w.pass(latest+time.Minute, time.Minute, "p")
		w.must("p", true)
		w.must(self, true)
	}
}

// TestPlacesOfADomain: however many names a domain has, it names four peers; where
// names cost nothing, all of a suffix together name sixteen.
func TestPlacesOfADomain(t *testing.T) {
	for form, want := range map[string]int{
		"n%d.example.org": ofDomain, "n%d.sub.example.co.uk:8080": ofDomain, "n%d.github.io": ofSuffix, "127.0.0.1:%d": 50, "n%d.org": 50,
	} {
		w := newWorld(t)
		for i := range 50 {
			p, site := feedring.PeerID(fmt.Sprint("p", i)), fmt.Sprintf(form, i)
			w.site(site, p)
			w.r.Tell(p, p, []string{site}, w.now)
			w.r.Names(p, w.now)
		}
		w.pass(2*time.Hour, time.Minute)
		if got := len(w.r.All(w.now)); got != want {
			t.Errorf("%s: %d peers are named, want %d", form, got, want)
		}
		if again := New(Config{Self: self, Retry: retry}, w.r.All(w.now)); len(again.All(w.now)) != want {
			t.Errorf("%s: %d were kept", form, len(again.All(w.now)))
		}
		// A place is free again when its peer's site says no more.
		for i := range 49 {
			w.site(fmt.Sprintf(form, i))
		}
		for range 49 {
			w.pass(time.Hour, 20*time.Minute, "p49")
		}
		w.must("p49", true)
	}
}

// TestWordsOfOthersAreFew: of what others tell a little is kept, and what the peer says
// itself always.
func TestWordsOfOthersAreFew(t *testing.T) {
	w := newWorld(t)
	w.site("own.example", "p")
	w.r.Names("p", w.now)
	for i := range 100 {
		w.r.Tell("p", feedring.PeerID(fmt.Sprint("liar", i)), []string{fmt.Sprintf("wrong%d.example", i)}, w.now)
	}
	w.r.Tell("p", "p", []string{"own.example"}, w.now)
	w.r.Tell("p", "liar", []string{"wrong.example"}, w.now)
	w.pass(time.Minute, time.Second, "p")
	w.must("p", true)
	if len(w.asked) > 1+maxTold {
		t.Errorf("%d sites were asked", len(w.asked))
	}
}

// TestWhomOthersAreAskedAbout: those of whom no site is known, not again and again.
func TestWhomOthersAreAskedAbout(t *testing.T) {
	w := newWorld(t)
	w.site("a.example", "p")
	w.r.Names("p", w.now)
	if got := w.r.Unplaced(w.now); len(got) != 1 || got[0] != "p" || len(w.r.Unplaced(w.now)) != 0 || !w.r.Sought("p") || w.r.Sought("q") {
		t.Errorf("asked about %v", got)
	}
	w.r.Tell("p", "other", []string{"a.example"}, w.now)
	w.ask()
	w.must("p", true)
	if got := w.r.Unplaced(w.now.Add(time.Hour)); len(got) != 0 {
		t.Errorf("asked about %v", got)
	}
}

// TestFloodOfKeys: what is kept of strangers is bounded, and those of whom a site is
// known stay.
func TestFloodOfKeys(t *testing.T) {
	w := newWorld(t)
	w.site("a.example", "p")
	w.r.Tell("p", "p", []string{"a.example"}, w.now)
	w.r.Names("p", w.now)
	for i := range 2 * maxPeers {
		w.r.Names(feedring.PeerID(fmt.Sprint("key", i)), w.now.Add(time.Duration(i)))
	}
	if len(w.r.peers) > maxPeers {
		t.Errorf("%d peers are kept", len(w.r.peers))
	}
	w.ask()
	w.must("p", true)
}
