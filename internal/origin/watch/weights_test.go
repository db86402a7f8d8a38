package watch

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
)

// read gives feeds readers, or a weight.
type read struct {
	readers map[string]int
	fixed   map[string]float64
}

func (r read) Weight(url string) (fixed float64, readers int) { return r.fixed[url], r.readers[url] }

// planned is the policy with four feeds that publish alike, each fetched once.
func planned(t *testing.T, rule Rule, w Weights) (b *Budget, next map[string]time.Duration) {
	t.Helper()
	b = NewBudget(rule, 4*time.Hour, rand.NewPCG(1, 2))
	b.Weights = w
	begin := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	next = map[string]time.Duration{}
	for day := range 2 { // by the second all are known
		for _, url := range []string{"http://a/", "http://b/", "http://c/", "http://d/"} {
			s := fetch.State{URL: url, LastFetch: begin}
			var published []time.Time
			for h := range 20 * 24 / 6 {
				published = append(published, begin.Add(time.Duration(6*h)*time.Hour))
			}
			now := begin.Add(time.Duration(20+day) * 24 * time.Hour)
			s.Rhythm().Learn(published, begin, now)
			at, _ := b.Next(&s, fetch.Outcome{}, now)
			next[url] = at.Sub(now)
		}
	}
	return b, next
}

// What many read is fetched more often, with the same budget; and never oftener than each
// hour or more rarely than each day.
func TestReadersDrawFetches(t *testing.T) {
	for _, rule := range []Rule{ExpectedLoss, MinDelay} {
		_, equal := planned(t, rule, nil)
		b, next := planned(t, rule, read{readers: map[string]int{"http://a/": 500, "http://b/": 20, "http://c/": 20}})
		if next["http://a/"]*2 > equal["http://a/"]*5/4 || next["http://d/"]*4 < equal["http://d/"]*5 {
			t.Errorf("%s: what most read is fetched after %v, the others after %v; without weights after %v", rule, next["http://a/"], next["http://d/"], equal["http://a/"])
		}
		for url, wait := range next {
			if wait < minInterval*9/10 || wait > maxInterval*11/10 {
				t.Errorf("%s: %s is fetched after %v", rule, url, wait)
			}
		}
		if got := b.weighs(b.feeds.Get("http://a/")); math.Abs(got-500/135.25) > 0.4 {
			t.Errorf("%s: the weight is %v", rule, got)
		}
	}
}

// A weight that a person gave stays as it is, and counts in no mean.
func TestFixedWeightIsItself(t *testing.T) {
	b, _ := planned(t, ExpectedLoss, read{readers: map[string]int{"http://b/": 3, "http://c/": 3, "http://d/": 3}, fixed: map[string]float64{"http://a/": 8}})
	for url, want := range map[string]float64{"http://a/": 8, "http://b/": 1} {
		if got := b.weighs(b.feeds.Get(url)); math.Abs(got/want-1) > 0.01 {
			t.Errorf("%s counts for %v, not %v", url, got, want)
		}
	}
}
