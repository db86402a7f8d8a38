package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/sim/experiment/stage"
)

// Progress is told how far an experiment is. It may be nil.
type Progress func(done, total int, what string)

// Tell reports done of total, and what is under way.
func (p Progress) Tell(done, total int, format string, args ...any) {
	if p != nil {
		p(done, total, fmt.Sprintf(format, args...))
	}
}

// Spread is a distribution, in the unit that its field says.
type Spread struct {
	Count int     `json:"count"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// SpreadOf is the distribution of values, which it sorts.
func SpreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	slices.Sort(values)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	at := func(share float64) float64 { return values[int(share*float64(len(values)-1))] }
	return Spread{Count: len(values), Mean: sum / float64(len(values)), P50: at(0.5), P99: at(0.99), Max: at(1)}
}

// zipf draws ranks from 0 with a chance of 1/(rank+1)^exponent each.
type zipf struct{ upTo []float64 }

func newZipf(n int, exponent float64) zipf {
	z := zipf{upTo: make([]float64, n)}
	sum := 0.0
	for i := range n {
		sum += math.Pow(float64(i+1), -exponent)
		z.upTo[i] = sum
	}
	return z
}

func (z zipf) draw(random *rand.Rand) int {
	x := random.Float64() * z.upTo[len(z.upTo)-1]
	i, _ := slices.BinarySearch(z.upTo, x)
	return min(i, len(z.upTo)-1)
}

// NewRandom is a source of chance for what is drawn outside a stage.
func NewRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x6578706572)) }

// Exponential is a random duration with a mean.
func Exponential(random *rand.Rand, mean time.Duration) time.Duration {
	return time.Duration(random.ExpFloat64() * float64(mean))
}

// NewStage is a network that is slow and loses nothing, with nobody on it.
func NewStage(seed uint64, refresh, freshness, delay time.Duration) *stage.Stage {
	return newStage(seed, refresh, freshness, delay, false)
}

func newStage(seed uint64, refresh, freshness, delay time.Duration, inSlices bool) *stage.Stage {
	return stage.New(stage.Config{Seed: seed, Delay: delay, Sync: 2 * time.Millisecond, Slices: inSlices,
		Peer: peer.Config{Refresh: refresh, Attempts: 3, Freshness: freshness}})
}

// URLOf is the address of the feed that peer i publishes.
func URLOf(i int) string { return fmt.Sprintf("https://p%d.example/rss", i) }

// ThemeOf is the theme of group i.
func ThemeOf(i int) feedring.Theme { return feedring.Theme(fmt.Sprintf("theme%d", i)) }

// enter adds peer i, with one feed of its own.
func enter(s *stage.Stage, i int, theme feedring.Theme) *stage.Host {
	feeds := map[feedring.Theme][]feedring.Feed{theme: {{URL: URLOf(i), Provider: feedring.ProviderOf(URLOf(i))}}}
	return s.Add(feedring.PeerID(fmt.Sprintf("peer%05d", i)), feeds, s.Hosts()[:min(i, 3)]...)
}

// Assemble adds groups of so many peers each, and waits until everybody is in.
func Assemble(s *stage.Stage, groups, peers int, refresh time.Duration) error {
	for i := range groups * peers {
		enter(s, i, ThemeOf(i%groups))
		s.Run(100 * time.Millisecond)
	}
	s.Run(12 * refresh)
	for i, h := range s.Hosts() {
		if v := h.View().Memberships[ThemeOf(i%groups)]; v == nil || len(v.Members) != peers {
			return fmt.Errorf("not everybody is in a group of %d peers after %v", peers, s.Now())
		}
	}
	return nil
}

// Forget sets all counts to zero.
func Forget(s *stage.Stage) {
	for _, h := range s.Hosts() {
		h.Forget()
	}
}

// sent sums what all peers sent of some verbs.
func sent(s *stage.Stage, verbs ...feedring.Verb) int {
	n := 0
	for _, h := range s.Hosts() {
		for _, v := range verbs {
			n += h.Sent[v]
		}
	}
	return n
}
