package cache

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"net/http"
	"strconv"
	"testing"
	"time"
)

func TestClaims(t *testing.T) {
	for agent, want := range map[string]struct {
		name  string
		count int
	}{
		"Feedly/1.0 (+http://www.feedly.com/fetcher.html; 142 subscribers; like FeedFetcher-Google)": {"Feedly", 142},
		"Mozilla/5.0 (compatible; inoreader.com; 1 subscriber)":                                      {"Mozilla", 1},
		"NewsBlur Feed Fetcher - 17 subscribers - https://www.newsblur.com/site/1/a":                 {"NewsBlur", 17},
		"Feedbin feed-id:1373711 - 131 subscribers":                                                  {"Feedbin#1373711", 131},
		"theoldreader.com (http://theoldreader.com; 40 subscribers; feed-id=5a)":                     {"theoldreader.com#5a", 40},
		"Some (99999999999 subscribers)":                                                             {},
		"Some (9999999999 subscribers)":                                                              {"Some", maxSubscribers},
		"Mozilla/5.0 (X11; Linux x86_64)":                                                            {},
		"A 1 Reader":                                                                                 {"A", 1},
		"Reader/2":                                                                                   {},
	} {
		name, count, ok := claimed(agent)
		if name != want.name || count != want.count || ok != (want.name != "") {
			t.Errorf("%s: %q %d %t", agent, name, count, ok)
		}
		if ok && !mayClaim(agent) {
			t.Errorf("%s is not looked at", agent)
		}
	}
}

func TestReaders(t *testing.T) {
	b := open(t, t.TempDir())
	b.Offer(testFeed, "a.example")
	b.take(rssOf("1"))
	for i := range 5 {
		b.get("User-Agent", "Feedly/1.0 (10 subscribers)", "X-Forwarded-For", fmt.Sprintf("9.9.9.%d", i))
	}
	b.get("User-Agent", "Feedbin feed-id:1 - 3 subscribers")
	for range 3 {
		b.get("User-Agent", "a")
		b.get("User-Agent", "b")
	}
	if n := b.Readers(testFeed); n != 15 {
		t.Errorf("%d readers", n)
	}
	b.get("User-Agent", "Feedly/1.0 (4 subscribers)")
	if n := b.Readers(testFeed); n != 9 {
		t.Errorf("%d readers after some left", n)
	}
	b.now = b.now.Add(25 * time.Hour)
	if n := b.Readers(testFeed); n != 2 {
		t.Errorf("%d readers the next day", n)
	}
	b.now = b.now.Add(25 * time.Hour)
	if n := b.Readers(testFeed); n != 0 {
		t.Errorf("%d readers after two days", n)
	}
	if b.Readers("https://other.example/") != 0 {
		t.Error("readers of nothing")
	}
}

func TestPollersBehindAProxy(t *testing.T) {
	for _, tt := range []struct{ remote, forwarded, want string }{
		{"192.0.2.7:1234", "", "192.0.2.7"},
		{"192.0.2.7:1234", "198.51.100.1", "192.0.2.7"}, // whoever comes from outside may claim anything
		{"127.0.0.1:1", "198.51.100.1", "198.51.100.1"},
		{"10.0.0.1:1", "203.0.113.9, 198.51.100.1", "198.51.100.1"},
		{"127.0.0.1:1", "unknown", "127.0.0.1"},
		{"[2001:db8:1:2:3::4]:1", "", "2001:db8:1:2::"},
		{"@", "", "invalid IP"},
	} {
		p := &Poll{Remote: tt.remote}
		if tt.forwarded != "" {
			p.Forwarded = []string{tt.forwarded}
		}
		if got := pollerOf(p); got != tt.want {
			t.Errorf("%s %s: %s", tt.remote, tt.forwarded, got)
		}
	}
}

func TestAggregatorsAreBounded(t *testing.T) {
	var r readers
	seed := maphash.MakeSeed()
	for i := range 10 * maxAggregators {
		r.note(&Poll{Agent: "A" + strconv.Itoa(i) + " (1 subscriber)"}, seed, testNow)
	}
	if n := r.count(testNow); n != maxAggregators {
		t.Error(n)
	}
}

func TestHyperloglog(t *testing.T) {
	seed := maphash.MakeSeed()
	for _, n := range []int{0, 1, 2, 5, 100, 1_000, 10_000, 200_000} {
		var s hyperLogLog
		for i := range n {
			s.add(maphash.Comparable(seed, i))
			s.add(maphash.Comparable(seed, i))
		}
		if got := s.count(); n <= 5 && got != n || math.Abs(float64(got-n)) > 0.16*float64(n) {
			t.Errorf("%d of %d", got, n)
		}
	}
}

// TestAPeerKnowsItself: a site that leads its peer to itself would show the same
// document for ever.
func TestAPeerKnowsItself(t *testing.T) {
	b := open(t, t.TempDir())
	b.Offer(testFeed, "a.example")
	b.take(rssOf("1"))
	b.get("User-Agent", "Feedly (41 subscribers)")
	if n := b.Readers(testFeed); n != 41 {
		t.Errorf("%d readers", n)
	}
	sent := http.Header{"If-None-Match": {"x"}, "A-Im": {"feed"}}
	if b.Prepare(testFeed, sent); sent.Get("If-None-Match") != "x" || sent.Get("A-IM") != "feed" {
		t.Errorf("a document that is there: %v", sent)
	}
	b.held(testFeed).doc.Store(nil)
	if b.Prepare(testFeed, sent); sent.Get("If-None-Match") != "" || sent.Get("A-IM") != "" {
		t.Error("a document that is not there is asked for if it changed")
	}
	other := http.Header{"If-None-Match": {"x"}, "A-Im": {"feed"}}
	if b.Prepare("http://private.example/", other); other.Get("If-None-Match") != "x" || other.Get("A-IM") != "feed" {
		t.Errorf("what is not served: %v", other)
	}
	b.take(rssOf("1"))
	if _, err := b.ask(testPath, "Cdn-Loop", "other, "+sent.Get("Cdn-Loop")); !errors.Is(err, ErrLoop) {
		t.Errorf("its own request: %v", err)
	}
	if _, err := b.ask(testPath, "Cdn-Loop", "feedring; id=00"); err != nil {
		t.Errorf("another peer's: %v", err)
	}
}
