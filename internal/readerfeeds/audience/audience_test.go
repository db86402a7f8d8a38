package audience

import (
	"hash/maphash"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

var testNow = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

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

func TestAggregatorsAreBounded(t *testing.T) {
	var r Audience
	seed := maphash.MakeSeed()
	for i := range 10 * maxAggregators {
		r.Note("", "A"+strconv.Itoa(i)+" (1 subscriber)", seed, testNow)
	}
	if n := r.Count(testNow); n != maxAggregators {
		t.Error(n)
	}
}

func TestHyperloglog(t *testing.T) {
	for _, n := range []int{0, 1, 2, 5, 100, 1_000, 10_000, 200_000} {
		hashes := rand.New(rand.NewPCG(1, 2)) // the same each time: of five, two of chance may share a register
		var s hyperLogLog
		for range n {
			h := hashes.Uint64()
			s.add(h)
			s.add(h)
		}
		if got := s.count(); n <= 5 && got != n || math.Abs(float64(got-n)) > 0.16*float64(n) {
			t.Errorf("%d of %d", got, n)
		}
	}
}

// What one address claims, under any names and programs, weighs as much as a hundred readers
// of one program at most.
func TestUserAgentBuysNoWeight(t *testing.T) {
	var r Audience
	seed := maphash.MakeSeed()
	for i := range 200 {
		r.Note("192.0.2.1", "A"+strconv.Itoa(i)+" (1000000 subscribers)", seed, testNow)
		r.Note("192.0.2.1", "Program/"+strconv.Itoa(i), seed, testNow)
	}
	if n := r.Weighed(testNow); n != MostWeighed+1 {
		t.Errorf("one address weighs as much as %d readers", n)
	}
	r.Note("192.0.2.2", "Feedly/1.0 (7 subscribers)", seed, testNow)
	r.Note("192.0.2.3", "Program/1", seed, testNow)
	if n := r.Weighed(testNow); n != MostWeighed+1+7+1 {
		t.Errorf("with two others it is %d", n)
	}
	if n := r.Weighed(testNow.Add(3 * readersWithin)); n != 0 {
		t.Errorf("three days later it is %d", n)
	}
}
