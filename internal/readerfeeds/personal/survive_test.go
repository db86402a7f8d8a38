package personal

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/feedring/feedring"
)

// TestLosesAndRepeatsNothing kills and restarts at any moment, settles the
// journal early, and holds the lists against plain ones.
func TestLosesAndRepeatsNothing(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { survive(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func survive(t *testing.T, random *rand.Rand) {
	w := newWorld(t)
	words := []string{"gaz", "vent", "sel", "mer"}
	type reader struct {
		Subscription
		word  string
		limit int
		want  []string // oldest first
	}
	var readers []*reader
	last := map[string]int{}
	for n := range 120 {
		switch random.IntN(12) {
		case 0:
			r := &reader{word: words[random.IntN(4)], limit: 3 + random.IntN(8)}
			r.Subscription = w.subscribe(feedring.Query{Theme: "news", Words: r.word, Limit: r.limit})
			for _, other := range readers { // the same interest has the same list
				if other.word == r.word && other.limit == r.limit {
					r.want = slices.Clone(other.want)
				}
			}
			readers = append(readers, r)
		case 1:
			if random.IntN(2) == 0 {
				w.flushed()
			}
			w.kill()
			w.restart()
		case 2:
			w.room.journal = maxJournal // due
			w.room.settle()
		}
		site, publisher := []string{"a", "b", "c"}[random.IntN(3)], feedring.PeerID("P")
		if site == "c" {
			publisher = self
		}
		last[site]++
		word := words[random.IntN(4)]
		title := fmt.Sprintf("%s-%d", word, n)
		e := entry(publisher, site+".example", last[site], titled(title), func(e *feedring.Entry) { e.URL += title })
		w.publish(e)
		for _, r := range readers {
			if r.word == word {
				r.want = append(r.want, title)
			}
		}
	}
	w.kill()
	w.restart()
	for _, r := range readers {
		want := slices.Clone(r.want[max(0, len(r.want)-r.limit):])
		got := strings.Fields(w.titles(r.Subscription))
		slices.Reverse(got)
		slices.Sort(got) // a kill may change the order of what came in the same moment
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s, %d: shows %v, not %v", r.word, r.limit, got, want)
		}
	}
}
